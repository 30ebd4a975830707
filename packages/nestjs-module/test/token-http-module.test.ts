import 'reflect-metadata'
import { HttpModule, HttpService } from '@nestjs/axios'
import { Inject, Injectable, Logger, Module } from '@nestjs/common'
import { Test } from '@nestjs/testing'
import { TokenModule } from '@tokenwell/nestjs-module'
import {
  getTokenHttpToken,
  TokenHttpModule,
  type TokenHttpModuleOptions,
} from '@tokenwell/nestjs-module/axios'
import { json } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import axios from 'axios'
import { firstValueFrom } from 'rxjs'
import { expect, it, onTestFinished, vi } from 'vitest'

const servers = useTestServers()
const tokenModule = (options = {}) =>
  TokenModule.forRoot({ isGlobal: true, tokens: servers.tokens, ...options })

@Injectable()
class Orders {
  readonly http: HttpService

  constructor(@Inject(HttpService) http: HttpService) {
    this.http = http
  }

  async list(): Promise<unknown> {
    return (await firstValueFrom(this.http.get('/orders'))).data
  }
}

it('sends the tokens of a named client to the origin of the base URL', async () => {
  const module = await Test.createTestingModule({
    imports: [
      tokenModule({ name: 'billing' }),
      TokenHttpModule.register({ client: 'billing', baseURL: servers.api.origin, timeout: 5_000 }),
    ],
    providers: [
      {
        provide: Orders,
        useFactory: (http: HttpService) => new Orders(http),
        inject: [getTokenHttpToken('billing')],
      },
    ],
  }).compile()
  expect(await module.get(Orders).list()).toStrictEqual({ accepted: true })
  await firstValueFrom(module.get(Orders).http.get(servers.other.origin)).catch(() => {})
  expect(servers.api.tokens).toStrictEqual([servers.endpoint.issued[0]])
  expect(servers.other.tokens).toStrictEqual([undefined])
  const { defaults } = module.get(Orders).http.axiosRef
  expect(defaults.timeout).toBe(5_000)
  expect(defaults).not.toHaveProperty('client')
  await module.close()
})

it('uses options from a class', async () => {
  @Injectable()
  class Options {
    createTokenHttpOptions(): TokenHttpModuleOptions {
      return { baseURL: servers.api.origin }
    }
  }
  const module = await Test.createTestingModule({
    imports: [tokenModule(), TokenHttpModule.registerAsync({ useClass: Options })],
    providers: [Orders],
  }).compile()
  expect(await module.get(Orders).list()).toStrictEqual({ accepted: true })
  await module.close()
})

it('uses options from a factory and the client of a module that is not global', async () => {
  const local = tokenModule({ isGlobal: false })
  @Module({ providers: [{ provide: 'url', useFactory: () => servers.api.origin }], exports: ['url'] })
  class ConfigModule {}
  const module = await Test.createTestingModule({
    imports: [
      TokenHttpModule.registerAsync({
        imports: [ConfigModule, local],
        inject: ['url'],
        useFactory: (baseURL: string): TokenHttpModuleOptions => ({
          baseURL,
          header: 'X-Api-Token',
          scheme: '',
        }),
      }),
    ],
    providers: [Orders],
  }).compile()
  servers.api.respond = ({ headers }) => json({ token: headers['x-api-token'] })
  expect(await module.get(Orders).list()).toStrictEqual({ token: servers.endpoint.issued[0] })
  await module.close()
})

it('is available only in importing modules, unless it is global', async () => {
  @Module({ providers: [Orders], exports: [Orders] })
  class OrdersModule {}
  const compile = (isGlobal?: boolean) =>
    Test.createTestingModule({
      imports: [
        tokenModule(),
        TokenHttpModule.register({ baseURL: servers.api.origin, isGlobal }),
        OrdersModule,
      ],
    }).compile()
  await expect(compile()).rejects.toThrow(/HttpService/)
  const module = await compile(true)
  expect(await module.get(Orders, { strict: false }).list()).toStrictEqual({ accepted: true })
  await module.close()
})

it('provides a separate service for each module that registers it', async () => {
  const feature = (origin: string) => {
    @Module({
      imports: [TokenHttpModule.register({ baseURL: origin })],
      providers: [Orders],
      exports: [Orders],
    })
    class FeatureModule {}
    return FeatureModule
  }
  const [one, two] = [feature(servers.api.origin), feature(servers.other.origin)]
  const module = await Test.createTestingModule({ imports: [tokenModule(), one, two] }).compile()
  await module.select(one).get(Orders).list()
  await module.select(two).get(Orders).list()
  expect([...servers.api.tokens, ...servers.other.tokens]).toStrictEqual(
    Array(2).fill(servers.endpoint.issued[0]),
  )
  await module.close()
})

it('does not change the global axios instance', async () => {
  const { handlers } = axios.interceptors.request
  const module = await Test.createTestingModule({
    imports: [
      tokenModule(),
      TokenHttpModule.register({
        baseURL: servers.api.origin,
        allowInsecureRequests: true,
        replaceHeader: false,
      }),
    ],
    providers: [Orders],
  }).compile()
  const { axiosRef } = module.get(Orders).http
  expect(axiosRef).not.toBe(axios)
  for (const option of ['allowedOrigins', 'allowInsecureRequests', 'replaceHeader']) {
    expect(Object.keys(axiosRef.defaults)).not.toContain(option)
  }
  expect(axios.interceptors.request.handlers).toStrictEqual(handlers)
  const { status } = await axios.get(servers.api.origin, { validateStatus: null })
  expect(status).toBe(401)
  expect(servers.endpoint.requests).toHaveLength(0)
  await module.close()
})

it.each([{}, { baseURL: '/orders' }])('fails at start without allowed origins: %j', async (options) => {
  const module = Test.createTestingModule({ imports: [tokenModule(), TokenHttpModule.register(options)] })
  await expect(module.compile()).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringMatching(/^TokenHttpModule: allowedOrigins/),
  })
})

it('warns once that another HttpService has interceptors, which its own does not use', async () => {
  const warn = vi.fn()
  onTestFinished(() => Logger.overrideLogger(true))
  @Module({ imports: [HttpModule.register({})], exports: [HttpModule] })
  class CommonModule {
    constructor(@Inject(HttpService) http: HttpService) {
      http.axiosRef.interceptors.request.use((config) => config)
    }
  }
  const start = async (...more: object[]) => {
    const http = ['one', 'two'].map((name) =>
      TokenHttpModule.register({ name, tokens: servers.tokens, baseURL: servers.api.origin }),
    )
    const module = await Test.createTestingModule({ imports: [...http, ...(more as never[])] }).compile()
    // Creating a testing module replaces the logger.
    Logger.overrideLogger({ log() {}, error() {}, warn })
    await module.init()
    await module.close()
  }
  await start(HttpModule.register({}))
  expect(warn).not.toHaveBeenCalled()
  await start(CommonModule)
  expect(warn.mock.calls).toStrictEqual([
    [
      expect.stringMatching(/^The HttpService of HttpModule has interceptors.*attachTokens\(http\.axiosRef/),
      'TokenHttpModule',
    ],
  ])
})
