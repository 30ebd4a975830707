import 'reflect-metadata'
import { HttpService } from '@nestjs/axios'
import { Injectable, Inject, Module, Scope } from '@nestjs/common'
import { Test } from '@nestjs/testing'
import type { TokenProvider } from '@tokenwell/core'
import { InjectTokenProvider, TokenModule } from '@tokenwell/nestjs-module'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { expect, it } from 'vitest'

@Injectable({ scope: Scope.REQUEST })
class Orders {
  readonly tokens: TokenProvider
  readonly http: HttpService

  constructor(@InjectTokenProvider() tokens: TokenProvider, @Inject(HttpService) http: HttpService) {
    this.tokens = tokens
    this.http = http
  }
}

it('provides tokens', async () => {
  const source = {
    cacheKey: async () => 'x',
    requestToken: async () => ({
      accessToken: `token`,
      tokenType: 'Bearer' as const,
      scope: [],
      expiresIn: 60,
    }),
  }
  @Module({
    imports: [
      TokenModule.forRoot({ isGlobal: true, source, eager: true }),
      TokenHttpModule.register({ baseURL: 'https://api.example.com' }),
    ],
    providers: [Orders],
  })
  class AppModule {}
  const module = await Test.createTestingModule({ imports: [AppModule] }).compile()
  await module.init()
  const orders = await module.resolve(Orders)
  expect((await orders.tokens.getToken()).value).toBe('token')
  expect(orders.http.axiosRef.defaults.baseURL).toBe('https://api.example.com')
  await module.close()
})
