import 'reflect-metadata'
import { createTokenProvider } from '@tokenwell/core'
import { HttpService } from '@nestjs/axios'
import { Test } from '@nestjs/testing'
import { getTokenProviderToken, TokenModule } from '@tokenwell/nestjs-module'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { createAxiosClient } from '@tokenwell/internal-testing/axios'
import { describeAdapter } from '@tokenwell/internal-testing/vitest'
import { isAxiosError } from 'axios'
import { firstValueFrom } from 'rxjs'

const unused = {
  cacheKey: () => Promise.reject(new Error()),
  requestToken: () => Promise.reject(new Error()),
}

describeAdapter({
  name: "Nest's HttpService",
  async createClient(attach) {
    if (attach === undefined) {
      const bare = new HttpService()
      return createAxiosClient((request) => firstValueFrom(bare.request(request)))
    }
    const { tokens, options } = attach
    const module = await (
      typeof tokens === 'function'
        ? Test.createTestingModule({ imports: [TokenHttpModule.register({ ...options, tokens })] })
        : Test.createTestingModule({
            imports: [
              TokenModule.forRoot({ isGlobal: true, tokens: createTokenProvider(unused) }),
              TokenHttpModule.register(options),
            ],
          })
            .overrideProvider(getTokenProviderToken())
            .useValue(tokens)
    ).compile()
    const http = module.get(HttpService, { strict: false })
    return createAxiosClient((request) => firstValueFrom(http.request(request)))
  },
  tokenErrorOf: (error) => (isAxiosError(error) ? error.cause : undefined),
  cannotSend: ['web stream'],
})
