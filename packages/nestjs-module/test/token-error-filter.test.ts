import 'reflect-metadata'
import { HttpService } from '@nestjs/axios'
import { Controller, Get, HttpException, Inject, Module, Param, type ArgumentsHost } from '@nestjs/common'
import { APP_FILTER } from '@nestjs/core'
import { ClientProxyFactory, EventPattern, MessagePattern, ServerTCP, Transport } from '@nestjs/microservices'
import { Test } from '@nestjs/testing'
import { createTokenProvider, TokenError, type TokenErrorKind, type TokenProvider } from '@tokenwell/core'
import { getTokenProviderToken, InjectTokens, TokenErrorFilter, TokenModule } from '@tokenwell/nestjs-module'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { json } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import type { AddressInfo, Server } from 'node:net'
import { firstValueFrom, lastValueFrom, throwError, type Observable } from 'rxjs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

const servers = useTestServers()

@Controller()
class OrdersController {
  @InjectTokens() readonly tokens!: TokenProvider
  @Inject(HttpService) readonly http!: HttpService

  @Get('tokens')
  async expiresAt(): Promise<Date> {
    return (await this.tokens.getToken()).expiresAt
  }

  @Get('http')
  async list(): Promise<unknown> {
    return (await firstValueFrom(this.http.get('/orders'))).data
  }

  @Get('kinds/:kind')
  fail(@Param('kind') kind: TokenErrorKind): never {
    throw new TokenError({ kind, message: 'No token' })
  }

  @Get('other')
  other(): never {
    throw new Error('Not about a token')
  }
}

async function start() {
  const messages: string[] = []
  const log = (text: unknown) => void messages.push(String(text))
  const tokens = TokenModule.forRoot({
    isGlobal: true,
    tokens: createTokenProvider(servers.endpoint.source, { maxAttempts: 1 }),
  })
  @Module({
    imports: [tokens, TokenHttpModule.register({ baseURL: servers.api.origin })],
    controllers: [OrdersController],
    providers: [{ provide: APP_FILTER, useClass: TokenErrorFilter }],
  })
  class AppModule {}
  const module = await Test.createTestingModule({ imports: [AppModule] }).compile()
  const app = module.createNestApplication({ logger: { log, warn: log, error: log } })
  onTestFinished(() => app.close())
  await app.listen(0, '127.0.0.1')
  return { url: await app.getUrl(), messages }
}

it.each(['tokens', 'http'])('responds with 502 if the credentials are rejected, to /%s', async (path) => {
  const { url, messages } = await start()
  servers.endpoint.respond = () => json({ error: 'invalid_client' }, 401)
  const response = await fetch(`${url}/${path}`)
  expect(response.status).toBe(502)
  expect(response.headers.get('retry-after')).toBeNull()
  expect(await response.json()).toStrictEqual({ statusCode: 502, message: 'Bad Gateway' })
  await expect.poll(() => messages).toContainEqual(expect.stringContaining('invalid_client'))
})

it('names the client in errors at run time', async () => {
  const module = await Test.createTestingModule({
    imports: [
      TokenModule.forRoot({
        name: 'billing',
        tokenEndpoint: `${servers.endpoint.origin}/token`,
        clientId: 'a-client',
        clientSecret: 'a-secret',
      }),
    ],
  }).compile()
  onTestFinished(() => module.close())
  servers.endpoint.respond = () => json({ error: 'invalid_client' }, 401)
  const tokens: TokenProvider = module.get(getTokenProviderToken('billing'))
  await expect(tokens.getToken()).rejects.toThrow(/of "[^"]+" \(billing\)/)
})

it.each([429, 503])('responds with 503 and Retry-After to a %i of the token endpoint', async (status) => {
  const { url } = await start()
  servers.endpoint.respond = () => json({}, status, { 'retry-after': '7' })
  const response = await fetch(`${url}/http`)
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('7')
  expect(await response.json()).toStrictEqual({ statusCode: 503, message: 'Service Unavailable' })
})

it('responds with 503 only if a later attempt may succeed', async () => {
  const { url } = await start()
  const kinds = ['throttled', 'unavailable', 'aborted', 'credentials', 'configuration', 'malformed']
  const responses = await Promise.all(kinds.map((kind) => fetch(`${url}/kinds/${kind}`)))
  expect(responses.map(({ status }) => status)).toStrictEqual([503, 503, 503, 502, 502, 502])
  expect(responses.map(({ headers }) => headers.get('retry-after'))).toStrictEqual(Array(6).fill(null))
})

it('sets Retry-After as a filter with its own adapter too, to at least a second', () => {
  const adapter = { setHeader: vi.fn(), isHeadersSent: () => false, reply: vi.fn() }
  const host = {
    getType: () => 'http',
    getArgByIndex: () => 'response',
    switchToHttp: () => ({ getResponse: () => 'response' }),
  }
  const filter = new TokenErrorFilter(adapter as never)
  filter.catch(new TokenError({ kind: 'throttled', message: 'Later', retryAfterMs: 1 }), host as never)
  // Rounded up: nobody comes back before the cooldown ends.
  filter.catch(new TokenError({ kind: 'throttled', message: 'Later', retryAfterMs: 6_001 }), host as never)
  expect(adapter.setHeader.mock.calls).toStrictEqual([
    ['response', 'Retry-After', '1'],
    ['response', 'Retry-After', '7'],
  ])
  expect(adapter.reply).toHaveBeenCalledWith('response', expect.anything(), 503)
})

describe('in other transports than HTTP', () => {
  const unavailable = new TokenError({ kind: 'unavailable', message: 'Down' })
  const rejected = new TokenError({ kind: 'credentials', message: 'Rejected' })
  const filter = new TokenErrorFilter()

  async function errorOf(result: ReturnType<TokenErrorFilter['catch']>): Promise<unknown> {
    return lastValueFrom(result as Observable<never>).then(expect.unreachable, (error: unknown) => error)
  }

  function hostOf(type: string, client?: object, ...args: unknown[]): ArgumentsHost {
    return {
      getType: () => type,
      getArgByIndex: (index: number) => args[index],
      switchToWs: () => ({ getClient: () => client }),
    } as ArgumentsHost
  }

  it('returns an Observable to a microservice, which Nest waits for', async () => {
    const results = [unavailable, rejected].map((thrown) => filter.catch(thrown, hostOf('rpc')))
    expect(await Promise.all(results.map(errorOf))).toStrictEqual([
      { status: 'error', message: 'Service Unavailable' },
      { status: 'error', message: 'Bad Gateway' },
    ])
  })

  it("adds the code that makes gRPC's clients retry", async () => {
    const host = hostOf('rpc', undefined, {}, {}, { sendMetadata() {} })
    const results = [unavailable, rejected].map((thrown) => filter.catch(thrown, host))
    expect(await Promise.all(results.map(errorOf))).toStrictEqual([
      { status: 'error', message: 'Service Unavailable', code: 14 },
      { status: 'error', message: 'Bad Gateway', code: 13 },
    ])
  })

  it('sends the event exception to the client of a gateway', () => {
    const socketIo = { emit: vi.fn() }
    filter.catch(unavailable, hostOf('ws', socketIo))
    expect(socketIo.emit.mock.calls).toStrictEqual([
      ['exception', { status: 'error', message: 'Service Unavailable' }],
    ])
    const native = { readyState: 1, emit: vi.fn(), send: vi.fn() }
    filter.catch(rejected, hostOf('ws', native))
    expect(native.emit).not.toHaveBeenCalled()
    expect(native.send.mock.calls).toStrictEqual([
      ['{"event":"exception","data":{"status":"error","message":"Bad Gateway"}}'],
    ])
  })

  it('throws an HttpException without details elsewhere, for GraphQL', () => {
    expect(() => filter.catch(unavailable, hostOf('graphql'))).toThrow(
      new HttpException({ statusCode: 503, message: 'Service Unavailable' }, 503),
    )
  })
})

describe('in a microservice over TCP', () => {
  @Controller()
  class MessagesController {
    @MessagePattern('orders')
    async orders(): Promise<never> {
      throw new TokenError({ kind: 'unavailable', message: 'The token endpoint is down' })
    }

    @MessagePattern('stream')
    stream(): Observable<never> {
      return throwError(() => new TokenError({ kind: 'unavailable', message: 'The token endpoint is down' }))
    }

    @EventPattern('order.created')
    created(_event: unknown, ..._context: unknown[]): unknown {
      throw new TokenError({ kind: 'unavailable', message: 'The token endpoint is down' })
    }
  }

  @Module({
    controllers: [MessagesController],
    providers: [{ provide: APP_FILTER, useClass: TokenErrorFilter }],
  })
  class MessagesModule {}

  it.each(['pure', 'hybrid'])('a %s application responds to each message with an error', async (kind) => {
    const messages: string[] = []
    const log = (text: unknown) => void messages.push(String(text))
    const logger = { log: () => {}, warn: log, error: log }
    const strategy = new ServerTCP({ host: '127.0.0.1', port: 0 })
    const module = await Test.createTestingModule({ imports: [MessagesModule] }).compile()
    if (kind === 'pure') {
      const app = module.createNestMicroservice({ strategy, logger })
      onTestFinished(() => app.close())
      await app.listen()
    } else {
      const app = module.createNestApplication({ logger })
      app.connectMicroservice({ strategy }, { inheritAppConfig: true })
      onTestFinished(() => app.close())
      await app.startAllMicroservices()
    }
    const { port } = strategy.unwrap<Server>().address() as AddressInfo
    const client = ClientProxyFactory.create({
      transport: Transport.TCP,
      options: { host: '127.0.0.1', port },
    })
    onTestFinished(() => void client.close())
    const unavailable = { status: 'error', message: 'Service Unavailable' }
    for (const pattern of ['orders', 'stream', 'orders'])
      await expect(lastValueFrom(client.send(pattern, {}))).rejects.toStrictEqual(unavailable)
    await lastValueFrom(client.emit('order.created', {}), { defaultValue: undefined })
    await expect(lastValueFrom(client.send('orders', {}))).rejects.toStrictEqual(unavailable)
    expect(messages).toStrictEqual(Array(5).fill('The token endpoint is down'))
  })
})

it('does not handle other errors', async () => {
  const { url } = await start()
  expect((await fetch(`${url}/other`)).status).toBe(500)
})
