import 'reflect-metadata'
import { HttpModule, HttpService } from '@nestjs/axios'
import {
  forwardRef,
  Inject,
  Injectable,
  Logger,
  Module,
  type InjectionToken,
  type ModuleMetadata,
  type Provider,
} from '@nestjs/common'
import { ModuleRef, NestFactory } from '@nestjs/core'
import { Test } from '@nestjs/testing'
import { createTokenProvider } from '@tokenwell/core'
import { getTokenProviderToken, TokenModule } from '@tokenwell/nestjs-module'
import { getTokenHttpToken, InjectTokenHttp, TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { firstValueFrom } from 'rxjs'
import { describe, expect, it, vi } from 'vitest'

const servers = useTestServers()
const tokens = (options = {}) =>
  TokenModule.forRoot({ tokens: createTokenProvider(servers.endpoint.source), ...options })
const http = (options = {}) => TokenHttpModule.register({ baseURL: servers.api.origin, ...options })
const compile = (imports: ModuleMetadata['imports'] = [], providers: ModuleMetadata['providers'] = []) =>
  Test.createTestingModule({ imports, providers }).compile()

describe('ambiguous modules', () => {
  it.each<[string, () => ModuleMetadata['imports']]>([
    ['two unnamed clients', () => [tokens(), tokens()]],
    ['an unnamed client beside a global one', () => [tokens({ isGlobal: true }), tokens()]],
    ['two clients of one name', () => [tokens({ name: 'billing' }), tokens({ name: 'billing' })]],
  ])('fail at start: %s', async (_name, imports) => {
    await expect(compile(imports())).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringMatching(
        /^RootTestModule imports several modules that provide TokenProvider.*: TokenModule and TokenModule\. Pass a different name .*@InjectTokens\('name'\)\.$/,
      ),
    })
  })

  it.each<[string, () => ModuleMetadata['imports'], RegExp]>([
    [
      'two services without a name',
      () => [http(), http()],
      /HttpService: TokenHttpModule and TokenHttpModule/,
    ],
    [
      'a plain HttpModule',
      () => [HttpModule, http()],
      /HttpService: (Token)?HttpModule and (Token)?HttpModule/,
    ],
    ['one client twice', () => [http({ client: 'a' }), http({ client: 'a' })], /provide TokenHttp\(a\)/],
  ])('fail at start: TokenHttpModule alongside %s', async (_name, imports, pattern) => {
    const clients = [tokens({ isGlobal: true }), tokens({ isGlobal: true, name: 'a' })]
    const error: Error = await compile([...clients, ...imports()!]).then(
      () => expect.unreachable(),
      (error: Error) => error,
    )
    expect(error).toMatchObject({ kind: 'configuration', message: expect.stringMatching(pattern) })
    expect(error.message).toMatch(/Pass a different client or name .*@InjectTokenHttp\('name'\)\.$/)
  })

  it.each([
    ['TokenModule', () => [tokens(), tokens()]],
    ['TokenHttpModule', () => [tokens({ isGlobal: true }), http(), http({ baseURL: servers.other.origin })]],
  ])('fail at start: two of %s, however Nest identifies modules', async (_name, imports) => {
    @Module({ imports: imports() })
    class AppModule {}
    const options = { moduleIdGeneratorAlgorithm: 'deep-hash', logger: false, abortOnError: false } as const
    await expect(NestFactory.createApplicationContext(AppModule, options)).rejects.toMatchObject({
      kind: 'configuration',
    })
  })

  it('fail at start if another module exports them again', async () => {
    const shared = http()
    @Module({ imports: [shared], exports: [shared] })
    class SharedModule {}
    await expect(compile([tokens({ isGlobal: true }), SharedModule, http()])).rejects.toThrow(/HttpService/)
  })
})

describe('a plain HttpService beside the service of a named client', () => {
  @Injectable()
  class PlainOrders {
    readonly http: HttpService
    constructor(@Inject(HttpService) http: HttpService) {
      this.http = http
    }
  }
  @Injectable()
  class PlainProperty {
    @Inject(HttpService) readonly http!: HttpService
  }
  @Injectable()
  class BillingOrders {
    readonly http: HttpService
    constructor(@InjectTokenHttp('billing') http: HttpService) {
      this.http = http
    }
  }
  @Injectable()
  class BillingLookup {
    readonly #modules: ModuleRef
    constructor(@Inject(ModuleRef) modules: ModuleRef) {
      this.#modules = modules
    }
    get http(): HttpService {
      return this.#modules.get(getTokenHttpToken('billing'))
    }
  }
  const factory = (token: InjectionToken) => ({
    provide: 'PlainFactory',
    useFactory: (service: unknown) => service,
    inject: [{ token, optional: true }],
  })
  const warningsOf = async (
    providers: ModuleMetadata['providers'],
    others: ModuleMetadata['imports'] = [HttpModule],
  ) => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => {})
    const client = tokens({ isGlobal: true, name: 'billing' })
    await compile([client, http({ client: 'billing' }), ...others], providers)
    return warn.mock.calls.map(([message]) => message as unknown)
  }

  it.each<[string, Provider]>([
    ['PlainOrders', PlainOrders],
    ['PlainProperty', PlainProperty],
    ['PlainFactory', factory(HttpService)],
  ])('is a mistake if nothing injects the latter: %s', async (name, provider) => {
    expect(await warningsOf([provider])).toStrictEqual([
      `${name} injects HttpService, whose requests carry no token, and nothing injects the service of 'billing'. ` +
        "Inject it with @InjectTokenHttp('billing').",
    ])
  })

  it.each<[string, Provider[]]>([
    ['both are injected', [PlainOrders, BillingOrders]],
    ['a factory injects the latter', [PlainOrders, factory('TokenHttp(billing)')]],
    ['neither is injected', []],
    ['the latter is looked up', [PlainOrders, BillingLookup]],
    ['a factory may look up the latter', [PlainOrders, factory(ModuleRef)]],
  ])('is fine if %s', async (_, providers) => {
    expect(await warningsOf(providers)).toStrictEqual([])
  })

  it('is a mistake although a library looks up its own services', async () => {
    @Module({ providers: [factory(ModuleRef)] })
    class LibraryModule {}
    expect(await warningsOf([PlainOrders], [HttpModule, LibraryModule])).toHaveLength(1)
  })

  it('is fine if it attaches tokens itself', async () => {
    expect(await warningsOf([PlainOrders], [tokens({ isGlobal: true }), http()])).toStrictEqual([])
  })
})

describe('a service whose client is not imported', () => {
  it.each<[string, object, () => ModuleMetadata['imports'], string]>([
    ['no client', {}, () => [], 'TokenModule without a name is imported here. Import'],
    [
      'other names',
      { client: 'biling' },
      () => [tokens({ name: 'billing' }), tokens({ name: 'orders' })],
      "TokenModule with the name 'biling' is imported here. The application has 'billing', 'orders'. Import",
    ],
    [
      'a client of another module',
      { client: 'billing' },
      () => [tokens({ name: 'billing' }), tokens()],
      "TokenModule with the name 'billing' is imported here. The application has 'billing', one without a name. Import",
    ],
  ])('fails at start, naming the clients that exist: %s', async (_name, options, imports, message) => {
    const error: Error = await compile([...imports()!, http(options)]).then(
      () => expect.unreachable(),
      (error: Error) => error,
    )
    expect(error).toMatchObject({ kind: 'configuration' })
    expect(error.message).toContain(`No ${message} it, make it global, or set tokens.`)
  })
})

describe('distinct modules', () => {
  it('start alongside modules that export each other', async () => {
    @Module({ imports: [forwardRef(() => Invoices)], exports: [forwardRef(() => Invoices)] })
    class Orders {}
    @Module({ imports: [Orders], exports: [Orders] })
    class Invoices {}
    const module = await compile([tokens(), Orders])
    expect(module.get(Invoices)).toBeInstanceOf(Invoices)
    await module.close()
  })

  it('start alongside a module that provides a service for itself only', async () => {
    @Module({ imports: [HttpModule], providers: [{ provide: HttpService, useValue: {} }] })
    class Orders {}
    const module = await compile([tokens({ isGlobal: true }), http(), Orders])
    expect(module.select(Orders).get(HttpService, { strict: true })).toEqual({})
    await module.close()
  })

  it('start alongside two of the same provider that are not from here', async () => {
    const other = () => {
      @Module({ providers: [{ provide: getTokenProviderToken(), useValue: {} }], exports: ['TokenProvider'] })
      class OtherModule {}
      return OtherModule
    }
    @Module({ imports: [tokens()] })
    class Orders {}
    const module = await compile([other(), other(), Orders])
    expect(module.get(Orders)).toBeInstanceOf(Orders)
    await module.close()
  })

  it('start if one module is imported in several places', async () => {
    const shared = tokens()
    @Module({ imports: [shared], exports: [shared] })
    class OrdersModule {}
    const module = await compile([shared, OrdersModule, http({ imports: [shared] })])
    expect(module.get(HttpService, { strict: false })).toBeInstanceOf(HttpService)
    await module.close()
  })

  it('provide a service for each client, and for each API of a client', async () => {
    @Injectable()
    class Orders {
      @InjectTokenHttp() readonly unnamed!: HttpService
      @InjectTokenHttp('billing') readonly billing!: HttpService
      @InjectTokenHttp('invoices') readonly invoices!: HttpService
    }
    const module = await compile(
      [
        tokens({ isGlobal: true }),
        tokens({ isGlobal: true, name: 'billing' }),
        http(),
        http({ client: 'billing', baseURL: servers.other.origin }),
        http({ client: 'billing', name: 'invoices', baseURL: `${servers.other.origin}/invoices` }),
      ],
      [Orders],
    )
    const orders = module.get(Orders)
    await firstValueFrom(orders.unnamed.get('/a'))
    await firstValueFrom(orders.billing.get('/b'))
    await firstValueFrom(orders.invoices.get('/c'))
    expect(servers.api.requests.map(({ url }) => url)).toStrictEqual(['/a'])
    expect(servers.other.requests.map(({ url }) => url)).toStrictEqual(['/b', '/invoices/c'])
    expect(servers.endpoint.issued).toHaveLength(2)
    await module.close()
  })
})
