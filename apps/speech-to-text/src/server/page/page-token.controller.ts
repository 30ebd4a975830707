import { Controller, Header, Headers, HttpCode, Post, UseGuards } from '@nestjs/common'
import { tokenResponseBody, type TokenProvider } from '@tokenwell/core'
import { InjectTokens } from '@tokenwell/nestjs-module'
import { SessionGuard } from '../session.ts'

/** Name of the client whose tokens pages get. */
export const PAGE_CLIENT = 'page'

/** A page gets no token that is about to expire. */
const minimumValidityMs = 60_000

/** Returns a token of the application for pages to pages that have a session. */
@Controller('api/token')
@UseGuards(SessionGuard)
export class PageTokenController {
  readonly #tokens: TokenProvider

  constructor(@InjectTokens(PAGE_CLIENT) tokens: TokenProvider) {
    this.#tokens = tokens
  }

  @Post()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  async token(@Headers('x-token-rejected') rejected?: string): Promise<ReturnType<typeof tokenResponseBody>> {
    const current = this.#tokens.peekToken()
    // The speech API rejected the page's token. The provider limits how often this leads to a new one.
    if (current && rejected) this.#tokens.reject(current)
    return tokenResponseBody(await this.#tokens.getToken({ minimumValidityMs }))
  }
}
