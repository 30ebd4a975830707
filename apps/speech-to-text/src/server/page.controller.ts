import { HttpService } from '@nestjs/axios'
import {
  Controller,
  Get,
  Header,
  Headers,
  HttpCode,
  Inject,
  type OnModuleDestroy,
  Post,
  Sse,
} from '@nestjs/common'
import type { ConfigType } from '@nestjs/config'
import { isRejectedByPage, tokenResponseBody, type TokenProvider } from '@tokenwell/core'
import { InjectTokens } from '@tokenwell/nestjs-module'
import { map, merge, Subject, timer } from 'rxjs'
import { application, speechApi } from '../nest/settings.ts'
import { watchToken } from './token-status.ts'

/** Name of the client whose tokens pages get. */
export const PAGE_CLIENT = 'page'

const OUTAGE_MS = 30_000

/** What the page needs of its server beside transcriptions. */
@Controller()
export class PageController implements OnModuleDestroy {
  private readonly changes = new Subject<void>()
  private readonly watcher: ReturnType<typeof watchToken>
  private outageEnd?: NodeJS.Timeout

  constructor(
    @InjectTokens() private readonly tokens: TokenProvider,
    @InjectTokens(PAGE_CLIENT) private readonly pageTokens: TokenProvider,
    @Inject(application.KEY) private readonly credentials: ConfigType<typeof application>,
    @Inject(speechApi.KEY) private readonly api: ConfigType<typeof speechApi>,
    http: HttpService,
  ) {
    this.watcher = watchToken(tokens, () => this.changes.next())
    http.axiosRef.interceptors.request.use((config) => {
      this.watcher.countApiCall()
      return config
    })
  }

  /** `trials`: whether the token service is a sandbox, with which the page can try what happens to a token. */
  @Get('page-settings')
  settings() {
    return { speechUrl: this.api.baseURL, trials: Boolean(process.env['SANDBOX_URL']) }
  }

  /** Everybody who opens the page gets a token: a real application checks here that a user is logged in. */
  @Post('token')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  async token(@Headers('x-token-rejected') rejected?: string) {
    const current = this.pageTokens.peekToken()
    // The speech API rejected the page's token. The provider limits how often this leads to a new one.
    if (current && (await isRejectedByPage(current, rejected))) this.pageTokens.reject(current)
    return tokenResponseBody(await this.pageTokens.getToken({ minimumValidityMs: 60_000 }))
  }

  /** Sends the status of the server's token now, after each change, and every 15 s to keep the connection open. */
  @Sse('token-status')
  follow() {
    return merge(timer(0, 15_000), this.changes).pipe(map(() => ({ data: this.watcher.status() })))
  }

  // The rest shows what revocation, expiry and an outage mean for the server's token. It is not for copying.

  /** Revokes the token at the token service, as somebody else would: the provider does not know. */
  @Post('trials/revoked')
  @HttpCode(204)
  async revoke(): Promise<void> {
    const { authUrl, clientId, clientSecret = '' } = this.credentials
    const token = this.tokens.peekToken()
    if (!token) return
    const body = new URLSearchParams({ token: token.value, client_id: clientId, client_secret: clientSecret })
    await fetch(`${authUrl}/oauth/revoke`, { method: 'POST', body })
    this.watcher.addTrial('revoked')
  }

  @Post('trials/expired')
  @HttpCode(204)
  expire(): void {
    this.tokens.reset()
    this.watcher.addTrial('expired')
  }

  @Post('trials/outage')
  @HttpCode(204)
  async startOutage(): Promise<void> {
    const url = `${process.env['SANDBOX_URL']}/faults`
    const body = JSON.stringify({ status: 503, requests: 1_000_000 })
    await fetch(url, { method: 'DELETE' })
    await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    clearTimeout(this.outageEnd)
    this.outageEnd = setTimeout(() => void fetch(url, { method: 'DELETE' }).catch(() => {}), OUTAGE_MS)
    this.watcher.addTrial('outage')
  }

  onModuleDestroy(): void {
    clearTimeout(this.outageEnd)
    this.watcher.stop()
    this.changes.complete()
  }
}
