import 'reflect-metadata'
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  Req,
  UseGuards,
  type ExecutionContext,
  type INestApplication,
} from '@nestjs/common'
import { APP_GUARD, Reflector, type AbstractHttpAdapter } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { Test } from '@nestjs/testing'
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger'
import { afterEach, describe, expect, it } from 'vitest'
import { createTokenVerifier, type VerifiedToken } from '@tokenwell/resource-server'
import {
  getTokenVerifierToken,
  OptionalToken,
  Public,
  RequireProducts,
  RequireScopes,
  Require,
  ResourceServerModule,
  TokenGuard,
  VerifiedAccessToken,
} from '@tokenwell/resource-server/nestjs'
import { createTestVerifier } from '@tokenwell/resource-server/testing'
import { createVerifierUnderTest, delayIntrospection } from './verifier-under-test.ts'

const { verifier, createTestToken } = createTestVerifier()

@Controller('orders')
@RequireProducts('orders')
class OrdersController {
  @Get()
  list(@VerifiedAccessToken() token: VerifiedToken): object {
    return { client: token.clientId }
  }

  @Get('all')
  @RequireScopes('orders:read')
  @RequireProducts('reports')
  all(): object {
    return {}
  }

  @Public()
  @Get('health')
  health(@VerifiedAccessToken() token: VerifiedToken | undefined): object {
    return { client: token?.clientId ?? null }
  }
}

@Injectable()
class Settings {
  readonly verifier = verifier
}

@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

let app: INestApplication | undefined
afterEach(() => app?.close())

async function start(module: Parameters<typeof Test.createTestingModule>[0]): Promise<string> {
  const testing = await Test.createTestingModule(module).compile()
  app = testing.createNestApplication({ logger: false })
  await app.listen(0, '127.0.0.1')
  return app.getUrl()
}
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

describe('guardAll', () => {
  const guarded = {
    imports: [ResourceServerModule.forRoot({ verifier, guardAll: true })],
    controllers: [OrdersController],
  }

  it('checks every handler and injects the token', async () => {
    const url = await start(guarded)
    expect((await fetch(`${url}/orders`)).status).toBe(401)
    const response = await fetch(
      `${url}/orders`,
      bearer(createTestToken({ products: ['orders'], clientId: 'acme' })),
    )
    expect(await response.json()).toEqual({ client: 'acme' })
  })

  it('adds what a handler requires to what its controller requires', async () => {
    const url = await start(guarded)
    const statusFor = async (products: string[], scopes: string[]) =>
      (await fetch(`${url}/orders/all`, bearer(createTestToken({ products, scopes })))).status
    expect(await statusFor(['orders', 'reports'], ['orders:read'])).toBe(200)
    expect(await statusFor(['reports'], ['orders:read'])).toBe(403)
    expect(await statusFor(['orders'], ['orders:read'])).toBe(403)
    expect(await statusFor(['orders', 'reports'], [])).toBe(403)
  })

  it('adds up decorators of one handler, of a controller and of its base class', async () => {
    @RequireScopes('base')
    class BaseController {}
    @Controller('reports')
    @RequireScopes('read')
    @RequireScopes('list')
    class ReportsController extends BaseController {
      @Get()
      @RequireScopes('admin')
      @RequireScopes('audit')
      list(): object {
        return {}
      }
    }
    const url = await start({
      imports: [ResourceServerModule.forRoot({ verifier, guardAll: true })],
      controllers: [ReportsController],
    })
    const statusFor = async (scopes: string[]) =>
      (await fetch(`${url}/reports`, bearer(createTestToken({ scopes })))).status
    const all = ['base', 'read', 'list', 'admin', 'audit']
    expect(await statusFor(all)).toBe(200)
    for (const missing of all) expect(await statusFor(all.filter((scope) => scope !== missing))).toBe(403)
  })

  it('does not start with a handler that is @Public and requires a scope', async () => {
    @Controller('a')
    @Public()
    class OpenController {
      @Get()
      @RequireScopes('admin')
      list(): object {
        return {}
      }
    }
    @Controller('b')
    class MixedController {
      @Get()
      @Public()
      @RequireProducts('orders')
      show(): object {
        return {}
      }
    }
    @Public()
    class OpenBase {}
    @Controller('c')
    @RequireScopes('admin')
    class DerivedController extends OpenBase {
      @Get()
      find(): object {
        return {}
      }
    }
    for (const [controller, handler] of [
      [OpenController, 'OpenController.list'],
      [MixedController, 'MixedController.show'],
      [DerivedController, 'DerivedController.find'],
    ] as const) {
      const starting = start({
        imports: [ResourceServerModule.forRoot({ verifier, guardAll: true })],
        controllers: [controller],
      })
      await expect(starting).rejects.toThrow(
        `${handler} is @Public() and requires products, scopes or claims. Remove one of the decorators.`,
      )
    }
  })

  it('does not apply to @Public handlers, with any token', async () => {
    const url = await start(guarded)
    expect(await (await fetch(`${url}/orders/health`)).json()).toEqual({ client: null })
    expect((await fetch(`${url}/orders/health`, bearer('unknown'))).status).toBe(200)
  })

  it('is off by default', async () => {
    @Controller('open')
    class OpenController {
      @Get()
      list(): object {
        return {}
      }
    }
    const url = await start({
      imports: [ResourceServerModule.forRoot({ verifier })],
      controllers: [OpenController],
    })
    expect((await fetch(`${url}/open`)).status).toBe(200)
  })
})

it.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
])('two modules that protect one resource serve its metadata once, on %s', async (_name, adapter) => {
  const resource = 'https://orders.example.com/v1'
  const create = () => createTokenVerifier({ issuer: 'https://auth.example.com', resource })
  const testing = await Test.createTestingModule({
    imports: [create(), create()].map((each) => ResourceServerModule.forRoot({ verifier: each })),
  }).compile()
  app = testing.createNestApplication(adapter() as AbstractHttpAdapter, { logger: false })
  await app.listen(0, '127.0.0.1')
  const response = await fetch(`${await app.getUrl()}/.well-known/oauth-protected-resource/v1`)
  expect(await response.json()).toMatchObject({ resource })
})

describe('@OptionalToken', () => {
  it('accepts requests without a token, and no invalid one', async () => {
    @Controller('teas')
    @OptionalToken()
    class TeasController {
      @Get()
      list(@VerifiedAccessToken() token: VerifiedToken | undefined): object {
        return { client: token?.clientId ?? null }
      }
    }
    const url = await start({
      imports: [ResourceServerModule.forRoot({ verifier, guardAll: true })],
      controllers: [TeasController],
    })
    expect(await (await fetch(`${url}/teas`)).json()).toEqual({ client: null })
    const token = createTestToken({ clientId: 'acme' })
    expect(await (await fetch(`${url}/teas`, bearer(token))).json()).toEqual({ client: 'acme' })
    expect((await fetch(`${url}/teas`, bearer('unknown'))).status).toBe(401)
    const document = SwaggerModule.createDocument(app!, new DocumentBuilder().addBearerAuth().build())
    expect(document.paths['/teas']?.get?.security).toEqual([{ bearer: [] }, {}])
  })

  it('does not start beside a requirement', async () => {
    @Controller('a')
    @Require({ claims: { tenant: 'a' } })
    class RequiringController {
      @Get()
      @OptionalToken()
      list(): object {
        return {}
      }
    }
    @Controller('b')
    @OptionalToken()
    class OpenController {
      @Get()
      @Require({ where: () => true })
      list(): object {
        return {}
      }
    }
    for (const controller of [RequiringController, OpenController]) {
      const starting = start({
        imports: [ResourceServerModule.forRoot({ verifier, guardAll: true })],
        controllers: [controller],
      })
      await expect(starting).rejects.toThrow(
        `${controller.name}.list is @OptionalToken() and requires products, scopes or claims.`,
      )
    }
  })
})

it('forRootAsync takes its options from other modules', async () => {
  const url = await start({
    imports: [
      ResourceServerModule.forRootAsync({
        guardAll: true,
        imports: [SettingsModule],
        inject: [Settings],
        useFactory: (settings: Settings) => ({ verifier: settings.verifier }),
      }),
    ],
    controllers: [OrdersController],
  })
  expect((await fetch(`${url}/orders`)).status).toBe(401)
  expect((await fetch(`${url}/orders`, bearer(createTestToken({ products: ['orders'] })))).status).toBe(200)
})

it('does not start an application with invalid options', async () => {
  const compiling = Test.createTestingModule({
    imports: [ResourceServerModule.forRoot({ issuer: 'https://auth.example.com' })],
  }).compile()
  await expect(compiling).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringContaining('audience'),
  })
})

it('the verifier can be injected, and overridden in tests', async () => {
  const introspection = { authUrl: 'http://localhost', clientId: 'orders-api', clientSecret: 'secret' }
  const testing = await Test.createTestingModule({
    imports: [ResourceServerModule.forRoot({ introspection })],
  })
    .overrideProvider(getTokenVerifierToken())
    .useValue(verifier)
    .compile()
  expect(testing.get(getTokenVerifierToken())).toBe(verifier)
})

it('an API document names the security of guarded handlers', async () => {
  await start({
    imports: [ResourceServerModule.forRoot({ verifier, guardAll: true })],
    controllers: [OrdersController],
  })
  const document = SwaggerModule.createDocument(app!, new DocumentBuilder().addBearerAuth().build())
  expect(document.paths['/orders']?.get?.security).toEqual([{ bearer: [] }])
  // An empty requirement makes a token optional.
  expect(document.paths['/orders/health']?.get?.security).toContainEqual({})
  expect(document.components?.securitySchemes).toHaveProperty('bearer')
})

describe('a guard that extends TokenGuard', () => {
  it('may have a constructor of its own, in which Nest injects what it declares', async () => {
    @Injectable()
    class SettingsGuard extends TokenGuard {
      readonly #settings: Settings
      constructor(@Inject(Settings) settings: Settings, @Inject(Reflector) reflector: Reflector) {
        super()
        this.#settings = settings
        expect(reflector).toBeInstanceOf(Reflector)
      }
      override canActivate(context: ExecutionContext): Promise<boolean> {
        expect(this.#settings).toBeInstanceOf(Settings)
        return super.canActivate(context)
      }
    }
    const url = await start({
      imports: [ResourceServerModule.forRoot({ verifier }), SettingsModule],
      controllers: [OrdersController],
      providers: [{ provide: APP_GUARD, useClass: SettingsGuard }],
    })
    expect((await fetch(`${url}/orders`)).status).toBe(401)
    expect((await fetch(`${url}/orders`, bearer(createTestToken({ products: ['orders'] })))).status).toBe(200)
  })

  it('says how to create it if Nest has not', async () => {
    const testing = await Test.createTestingModule({ controllers: [OrdersController] }).compile()
    app = testing.createNestApplication({ logger: false })
    const errors: unknown[] = []
    const guard = new TokenGuard()
    app.useGlobalGuards({
      canActivate: (context) =>
        guard.canActivate(context).catch((error: Error) => errors.push(error.message) === 0),
    })
    await app.listen(0, '127.0.0.1')
    await fetch(`${await app.getUrl()}/orders`)
    expect(errors).toEqual([
      'TokenGuard must be created by Nest: provide it with APP_GUARD, or name it in @UseGuards().',
    ])
  })
})

describe('user', () => {
  it.each([
    ['Express', () => new ExpressAdapter()],
    ['Fastify', () => new FastifyAdapter()],
  ])('is found after all requirements, and is request.user (%s)', async (_name, createAdapter) => {
    const calls: (string | undefined)[] = []
    @Controller('orders')
    @RequireProducts('orders')
    class UserController {
      @Get()
      list(@Req() request: { user?: unknown; accessToken?: VerifiedToken }): object {
        return { user: request.user, client: request.accessToken?.clientId }
      }
    }
    const tested = createTestVerifier({ errors: 'nest' })
    const testing = await Test.createTestingModule({
      imports: [
        ResourceServerModule.forRoot({
          verifier: tested.verifier,
          guardAll: true,
          user: async ({ clientId }, { headers }) => {
            calls.push(clientId)
            if (clientId === 'broken') throw new TypeError('database')
            return clientId === 'unknown' ? null : { name: `${clientId} at ${headers.host?.split(':')[0]}` }
          },
        }),
      ],
      controllers: [UserController],
    }).compile()
    app = testing.createNestApplication(createAdapter() as AbstractHttpAdapter, { logger: false })
    await app.listen(0, '127.0.0.1')
    const url = `${(await app.getUrl()).replace('[::1]', '127.0.0.1')}/orders`
    const responseFor = async (options: Parameters<typeof createTestToken>[0]) => {
      const response = await fetch(url, bearer(tested.createTestToken(options)))
      return [response.status, await response.json()]
    }
    const products = ['orders']
    expect(await responseFor({ clientId: 'shop', products })).toEqual([
      200,
      { user: { name: 'shop at 127.0.0.1' }, client: 'shop' },
    ])
    expect(await responseFor({ clientId: 'unknown', products })).toEqual([
      401,
      { statusCode: 401, message: 'The access token is invalid or expired.', error: 'Unauthorized' },
    ])
    expect((await responseFor({ clientId: 'broken', products }))[0]).toBe(500)
    expect(await responseFor({ clientId: 'shop', products: [] })).toEqual([
      403,
      { statusCode: 403, message: 'The access token does not cover the product orders.', error: 'Forbidden' },
    ])
    expect(calls).toEqual(['shop', 'unknown', 'broken'])
  })
})

describe('other contexts', () => {
  @Controller()
  class Handlers {}
  const contextOf = (type: string, args: unknown[] = []) =>
    ({
      getType: () => type,
      getHandler: () => () => {},
      getClass: () => Handlers,
      getArgByIndex: (index: number) => args[index],
    }) as unknown as ExecutionContext
  const guardOf = async () => {
    await start({ imports: [ResourceServerModule.forRoot({ verifier })] })
    return app!.get(TokenGuard, { strict: false })
  }

  it.each(['rpc', 'ws'])('of the type %s are rejected with a reason', async (type) => {
    const guard = await guardOf()
    await expect(guard.canActivate(contextOf(type))).rejects.toThrow(
      `TokenGuard cannot check "${type}" messages`,
    )
  })

  it('of GraphQL are checked by the request in their context', async () => {
    const guard = await guardOf()
    const req = (token: string) => ({
      headers: { authorization: `Bearer ${token}` },
      rawHeaders: [],
      socket: {},
    })
    const context = (token: string) => contextOf('graphql', [{}, {}, { req: req(token) }])
    await expect(guard.canActivate(context(createTestToken()))).resolves.toBe(true)
    await expect(guard.canActivate(context('unknown'))).rejects.toMatchObject({
      status: 401,
      cause: { name: 'TokenVerificationError', code: 'invalid_token' },
    })
    await expect(guard.canActivate(contextOf('graphql', [{}, {}, {}]))).rejects.toThrow(
      'requires the HTTP request in the GraphQL context',
    )
  })
})

describe('clientCertificate', () => {
  const passedOn = 'AAAA'
  const thumbprint = createHash('sha256').update(Buffer.from(passedOn, 'base64')).digest('base64url')
  const token = createTestToken({ products: ['orders'], claims: { cnf: { 'x5t#S256': thumbprint } } })
  const options = {
    verifier,
    clientCertificate: ({ headers }: Pick<IncomingMessage, 'headers'>) =>
      headers['x-client-cert']?.toString(),
  }
  const statusWith = async (url: string, certificate?: string) => {
    const headers = { ...bearer(token).headers, ...(certificate && { 'x-client-cert': certificate }) }
    return (await fetch(`${url}/orders`, { headers })).status
  }

  @Controller('orders')
  @UseGuards(TokenGuard)
  class GuardedController {
    @Get()
    list(): object {
      return {}
    }
  }
  @Module({ controllers: [GuardedController] })
  class OrdersModule {}

  it.each([
    [
      'guardAll',
      {
        imports: [ResourceServerModule.forRoot({ ...options, guardAll: true })],
        controllers: [OrdersController],
      },
    ],
    [
      'a guard in another module',
      { imports: [ResourceServerModule.forRoot({ ...options, isGlobal: true }), OrdersModule] },
    ],
    [
      'a factory',
      {
        imports: [
          ResourceServerModule.forRootAsync({ useFactory: () => options, isGlobal: true }),
          OrdersModule,
        ],
      },
    ],
  ])('is where a proxy passes it on, with %s', async (_name, module) => {
    const url = await start(module)
    expect(await statusWith(url, passedOn)).toBe(200)
    expect(await statusWith(url, 'BBBB')).toBe(401)
    expect(await statusWith(url)).toBe(401)
  })
})

it.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
])(
  'a request that something else has responded to in the meantime is left alone, on %s',
  async (_name, adapter) => {
    const underTest = createVerifierUnderTest()
    const { asked, respond } = delayIntrospection(underTest)
    const testing = await Test.createTestingModule({
      imports: [ResourceServerModule.forRoot({ verifier: underTest.verifier, guardAll: true })],
      controllers: [OrdersController],
    }).compile()
    app = testing.createNestApplication(adapter() as AbstractHttpAdapter, { logger: false })
    app.use((_request: IncomingMessage, response: ServerResponse, next: () => void) => {
      next()
      void asked.then(() => {
        response.statusCode = 504
        response.end('too late', respond)
      })
    })
    await app.listen(0, '127.0.0.1')
    const response = await fetch(`${await app.getUrl()}/orders`, bearer('bad'))
    expect([response.status, await response.text()]).toEqual([504, 'too late'])
    await expect.poll(() => underTest.events.map(({ type }) => type)).toContain('request_rejected')
  },
)
