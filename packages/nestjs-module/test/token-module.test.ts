import 'reflect-metadata'
import { Inject, Injectable, Module, Scope } from '@nestjs/common'
import { Test } from '@nestjs/testing'
import { createTokenProvider, TokenError, type TokenProvider, type TokenSource } from '@tokenwell/core'
import {
  getTokenProviderToken,
  InjectTokens,
  TokenModule,
  type TokenModuleOptions,
} from '@tokenwell/nestjs-module'
import { createTestTokenProvider } from '@tokenwell/core/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'

/** Issues tokens `name-1`, `name-2` … */
function createSource(name = 'token') {
  let issued = 0
  const requestToken = vi.fn<TokenSource['requestToken']>(async () => ({
    accessToken: `${name}-${++issued}`,
    tokenType: 'Bearer',
    scope: [],
    expiresIn: 60,
  }))
  return { cacheKey: () => Promise.resolve(name), requestToken }
}

/** Options that are valid. */
const valid = { authUrl: 'https://auth.example.com', clientId: 'client', clientSecret: 'secret' }

const started: { close(): Promise<void> }[] = []
async function start(imports: Module['imports'], providers: Module['providers'] = []) {
  const module = await Test.createTestingModule({
    imports: imports ?? [],
    providers: providers ?? [],
  }).compile()
  started.push(module)
  await module.init()
  const tokens = (name?: string): TokenProvider => module.get(getTokenProviderToken(name), { strict: false })
  return { module, tokens }
}
type Module = Parameters<typeof Test.createTestingModule>[0]
afterEach(async () => {
  for (const module of started.splice(0)) await module.close()
})

const valueOf = async (tokens: TokenProvider) => (await tokens.getToken()).value
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  )

@Injectable()
class Orders {
  readonly tokens: TokenProvider

  constructor(@InjectTokens() tokens: TokenProvider) {
    this.tokens = tokens
  }
}

describe('forRoot', () => {
  it('provides the tokens of a provider', async () => {
    const { module } = await start(
      [TokenModule.forRoot({ tokens: createTokenProvider(createSource()) })],
      [Orders],
    )
    expect(await valueOf(module.get(Orders).tokens)).toBe('token-1')
  })

  it('provides tokens for client credentials', async () => {
    const requests: string[] = []
    const { tokens } = await start([
      TokenModule.forRoot({
        authUrl: 'https://auth.example.com',
        clientId: 'client',
        clientSecret: 'secret',
        fetch: async (url) => {
          requests.push(new Request(url).url)
          return Response.json({ access_token: 'fetched', token_type: 'Bearer', expires_in: '60' })
        },
      }),
    ])
    expect(await valueOf(tokens())).toBe('fetched')
    expect(requests).toHaveLength(1)
  })

  it('throws what reading its options throws, unchanged', async () => {
    const options = {
      get tokens(): TokenProvider {
        throw new RangeError('not yet')
      },
    }
    const error = await failureOf(start([TokenModule.forRootAsync({ useFactory: () => options })]))
    expect(error).toBeInstanceOf(RangeError)
  })

  it('provides tokens by names that never change', () => {
    expect([getTokenProviderToken(), getTokenProviderToken('billing')]).toStrictEqual([
      'TokenProvider',
      'TokenProvider(billing)',
    ])
  })

  it('passes on the options of the provider', async () => {
    const events: string[] = []
    const fetch = async () => Response.json({ access_token: 'fetched', expires_in: 60 })
    const onEvent = ({ type }: { type: string }) => void events.push(type)
    const { tokens } = await start([TokenModule.forRoot({ ...valid, fetch, onEvent })])
    await tokens().getToken()
    expect(events).toStrictEqual(['token_requested', 'token_received', 'call_settled'])
  })

  it('provides several clients by name, for parameters and properties', async () => {
    @Injectable()
    class All {
      @InjectTokens('billing') readonly billing!: TokenProvider
      @InjectTokens('orders') readonly orders!: TokenProvider
      @InjectTokens() readonly unnamed!: TokenProvider
    }
    const { module, tokens } = await start(
      [
        TokenModule.forRoot({ tokens: createTokenProvider(createSource('unnamed')) }),
        TokenModule.forRoot({ name: 'billing', tokens: createTokenProvider(createSource('billing')) }),
        TokenModule.forRoot({ name: 'orders', tokens: createTokenProvider(createSource('orders')) }),
      ],
      [All],
    )
    const { unnamed, billing, orders } = module.get(All)
    const values = await Promise.all([unnamed, billing, orders].map(valueOf))
    expect(values).toStrictEqual(['unnamed-1', 'billing-1', 'orders-1'])
    expect(tokens('billing')).toBe(billing)
  })

  it('is available only in importing modules, unless it is global', async () => {
    @Module({ providers: [Orders], exports: [Orders] })
    class OrdersModule {}
    const local = TokenModule.forRoot({ tokens: createTokenProvider(createSource()) })
    const global = TokenModule.forRoot({ tokens: createTokenProvider(createSource()), isGlobal: true })
    const error = await failureOf(start([local, OrdersModule]))
    expect(String(error)).toContain('TokenProvider')
    const { module } = await start([global, OrdersModule])
    expect(await valueOf(module.get(Orders, { strict: false }).tokens)).toBe('token-1')
  })

  it('shares one token between request-scoped providers', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest extends Orders {}
    Inject(getTokenProviderToken())(PerRequest, undefined, 0)
    const { module } = await start(
      [TokenModule.forRoot({ tokens: createTokenProvider(createSource()) })],
      [PerRequest],
    )
    const [one, two] = await Promise.all([module.resolve(PerRequest), module.resolve(PerRequest)])
    expect(one).not.toBe(two)
    expect([await valueOf(one.tokens), await valueOf(two.tokens)]).toStrictEqual(['token-1', 'token-1'])
  })

  it('can be overridden in tests', async () => {
    const source = createSource()
    const module = await Test.createTestingModule({
      imports: [TokenModule.forRoot({ tokens: createTokenProvider(source), eager: true })],
      providers: [Orders],
    })
      .overrideProvider(getTokenProviderToken())
      .useValue(createTestTokenProvider({ tokens: ['from the test'] }))
      .compile()
    await module.init()
    expect(await valueOf(module.get(Orders).tokens)).toBe('from the test')
    await module.close()
    expect(source.requestToken).not.toHaveBeenCalled()
  })
})

describe('forRootAsync', () => {
  const OPTIONS = Symbol('options')
  @Module({
    providers: [
      { provide: OPTIONS, useFactory: () => ({ tokens: createTokenProvider(createSource('injected')) }) },
    ],
    exports: [OPTIONS],
  })
  class ConfigModule {}

  @Injectable()
  class Factory {
    createTokenOptions(): TokenModuleOptions {
      return { tokens: createTokenProvider(createSource('made')) }
    }
  }
  @Module({ providers: [Factory], exports: [Factory] })
  class FactoryModule {}

  it('uses options from a factory with dependencies', async () => {
    const options = TokenModule.forRootAsync({
      imports: [ConfigModule],
      inject: [OPTIONS],
      useFactory: async (options: TokenModuleOptions) => options,
    })
    const { tokens } = await start([options])
    expect(await valueOf(tokens())).toBe('injected-1')
  })

  it('uses options from a new or an existing class', async () => {
    const { tokens } = await start([
      TokenModule.forRootAsync({ useClass: Factory }),
      TokenModule.forRootAsync({ name: 'existing', imports: [FactoryModule], useExisting: Factory }),
    ])
    expect(await valueOf(tokens())).toBe('made-1')
    expect(await valueOf(tokens('existing'))).toBe('made-1')
  })

  it('provides named and global clients', async () => {
    @Module({
      providers: [
        {
          provide: 'token',
          useFactory: (tokens: TokenProvider) => tokens,
          inject: [getTokenProviderToken('b')],
        },
      ],
    })
    class Elsewhere {}
    const { module } = await start([
      TokenModule.forRootAsync({
        name: 'b',
        isGlobal: true,
        useFactory: () => ({ tokens: createTokenProvider(createSource('b')) }),
      }),
      Elsewhere,
    ])
    expect(await valueOf(module.get('token', { strict: false }))).toBe('b-1')
  })
})

describe('the lifecycle of an application', () => {
  it('starts with a token request if `eager` is set', async () => {
    const source = createSource()
    const { tokens } = await start([
      TokenModule.forRoot({ tokens: createTokenProvider(source), eager: true }),
    ])
    expect(source.requestToken).toHaveBeenCalledTimes(1)
    await tokens().getToken()
    expect(source.requestToken).toHaveBeenCalledTimes(1)
  })

  it('starts without a token request by default', async () => {
    const source = createSource()
    await start([TokenModule.forRoot({ tokens: createTokenProvider(source) })])
    expect(source.requestToken).not.toHaveBeenCalled()
  })

  it('requests no token before the modules are initialised', async () => {
    const source = createSource()
    const module = await Test.createTestingModule({
      imports: [TokenModule.forRoot({ tokens: createTokenProvider(source), eager: true })],
    }).compile()
    started.push(module)
    expect(source.requestToken).not.toHaveBeenCalled()
    await module.init()
    expect(source.requestToken).toHaveBeenCalledTimes(1)
  })

  it('starts if the token endpoint is unavailable', async () => {
    const source = createSource()
    source.requestToken.mockRejectedValue(new TokenError({ kind: 'credentials', message: 'No' }))
    const { tokens } = await start([
      TokenModule.forRoot({ tokens: createTokenProvider(source), eager: true }),
    ])
    expect(await failureOf(tokens().getToken())).toMatchObject({ kind: 'credentials' })
  })

  it('ends without an error if a test double has no close()', async () => {
    const logError = vi.fn()
    const module = await Test.createTestingModule({
      imports: [TokenModule.forRoot({ tokens: createTokenProvider(createSource()) })],
    })
      .overrideProvider(getTokenProviderToken())
      .useValue({})
      .setLogger({ log() {}, warn() {}, error: logError })
      .compile()
    await module.init()
    await module.close()
    expect(logError).not.toHaveBeenCalled()
  })

  it('cancels pending token requests on shutdown', async () => {
    const source = createSource()
    const signals: AbortSignal[] = []
    source.requestToken.mockImplementation(({ signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    })
    const { module, tokens } = await start([TokenModule.forRoot({ tokens: createTokenProvider(source) })])
    const failure = failureOf(tokens().getToken())
    await vi.waitUntil(() => signals.length > 0, { timeout: 20_000 })
    await module.close()
    expect(await failure).toMatchObject({ kind: 'aborted' })
    expect(signals[0]?.aborted).toBe(true)
  })
})

describe('invalid options', () => {
  it.each<[string, object, RegExp]>([
    ['no client ID', { ...valid, clientId: undefined }, /clientId/],
    ['an empty client secret', { ...valid, clientSecret: '' }, /clientSecret/],
    ['no URL', { ...valid, authUrl: undefined }, /authUrl/],
    ['plain HTTP', { ...valid, authUrl: 'http://auth.example.com' }, /authUrl/],
    ['a negative time', { ...valid, timeoutMs: -1 }, /timeoutMs/],
    ['undefined tokens', { tokens: undefined }, /tokens must be/],
    ['tokens and credentials', { ...valid, tokens: createTestTokenProvider() }, /tokens and clientId/],
    ['a source', { source: createSource() }, /Set tokens, such as createTokenProvider\(source\)/],
  ])('stop the application and name the option and the client: %s', async (_name, options, pattern) => {
    const error = await failureOf(
      start([TokenModule.forRoot({ ...(options as TokenModuleOptions), name: 'billing' })]),
    )
    expect(error).toBeInstanceOf(TokenError)
    expect(error).toMatchObject({ kind: 'configuration', message: expect.stringMatching(pattern) })
    expect((error as Error).message).toMatch(/^TokenModule "billing": /)
    expect((error as Error).message).not.toContain('secret"')
  })

  it.each([undefined, null, 'options'])('stop the application if a factory returns %j', async (options) => {
    const error = await failureOf(start([TokenModule.forRootAsync({ useFactory: () => options as never })]))
    expect(error).toMatchObject({ message: expect.stringMatching(/^TokenModule: .*useFactory/) })
  })
})
