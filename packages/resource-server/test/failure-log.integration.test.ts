import { createServer } from 'node:http'
import { Controller, Get } from '@nestjs/common'
import { Test } from '@nestjs/testing'
import express from 'express'
import Fastify, { type FastifyInstance } from 'fastify'
import { SignJWT } from 'jose'
import 'reflect-metadata'
import { expect, it, onTestFinished, vi } from 'vitest'
import {
  createTokenVerifier,
  type TokenVerifier,
  type TokenVerifierOptions,
} from '@tokenwell/resource-server'
import { requireToken as connectMiddleware } from '@tokenwell/resource-server/express'
import { resourceServer } from '@tokenwell/resource-server/fastify'
import { requireToken } from '@tokenwell/resource-server/fetch'
import { ResourceServerModule } from '@tokenwell/resource-server/nestjs'
import { createFakeClock } from '@tokenwell/core/testing'
import { listen } from './apis/node-apis.ts'
import { createSigningKey } from './servers/jwt-issuer.ts'
import { createVerifierUnderTest } from './verifier-under-test.ts'

/** Starts an API of one framework: its status for a token. */
type StartApi = (verifier: TokenVerifier, log: (line: string) => void) => Promise<StatusOf>
type StatusOf = (token: string) => Promise<number>

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const logToConsole = (log: (line: string) => void): void => {
  for (const level of ['error', 'warn'] as const) {
    vi.spyOn(console, level).mockImplementation((...parts) => log(parts.join(' ')))
  }
}

const startExpress: StartApi = async (verifier, log) => {
  logToConsole(log)
  const app = express().use(connectMiddleware(verifier), (_request, response) => void response.end())
  const apis = await listen(createServer(app))
  onTestFinished(() => apis.close())
  return async (token) => (await fetch(apis.origin, { headers: bearer(token) })).status
}

const createHandler: StartApi = async (verifier, log) => {
  logToConsole(log)
  const handle = requireToken(verifier, () => new Response())
  return async (token) => (await handle(new Request('http://localhost', { headers: bearer(token) }))).status
}

const startFastify: StartApi = (verifier, log) =>
  inject(Fastify({ logger: { level: 'warn', stream: { write: log } } }), verifier)

const startFastifyWithoutLog: StartApi = (verifier, log) => {
  logToConsole(log)
  return inject(Fastify(), verifier)
}

async function inject(app: FastifyInstance, verifier: TokenVerifier): Promise<StatusOf> {
  app.register(resourceServer, { verifier })
  app.get('/', async () => ({}))
  onTestFinished(() => app.close())
  return async (token) => (await app.inject({ url: '/', headers: bearer(token) })).statusCode
}

@Controller()
class RootController {
  @Get()
  read(): string {
    return ''
  }
}

const startNest: StartApi = async (verifier, log) => {
  const testing = await Test.createTestingModule({
    imports: [ResourceServerModule.forRoot({ verifier, guardAll: true })],
    controllers: [RootController],
  }).compile()
  const ignore = (): void => {}
  const write = (...parts: unknown[]): void => log(parts.join(' '))
  const logger = { log: ignore, warn: write, error: write }
  const app = testing.createNestApplication({ logger })
  onTestFinished(() => app.close())
  await app.listen(0, '127.0.0.1')
  const url = await app.getUrl()
  return async (token) => (await fetch(url, { headers: bearer(token) })).status
}

it.each([
  ['Express', startExpress],
  ['a fetch handler', createHandler],
  ['Fastify', startFastify],
  ['Fastify without a logger', startFastifyWithoutLog],
  ['NestJS', startNest],
])('%s logs once a minute why tokens cannot be checked, without a secret', async (_name, start) => {
  const underTest = createVerifierUnderTest({}, { onEvent: undefined })
  const lines: string[] = []
  const statusOf = await start(underTest.verifier, (line) => void lines.push(line))
  expect([await statusOf('good'), await statusOf('bad')]).toEqual([200, 401])
  expect(lines).toEqual([])

  underTest.respond = (token) =>
    new Response(JSON.stringify({ error: 'invalid_client', error_description: `orders-secret ${token}` }), {
      status: 401,
    })
  for (const token of ['one', 'two', 'three']) expect(await statusOf(`hidden-${token}`)).toBe(503)
  expect(lines).toEqual([expect.stringContaining('An access token could not be checked.')])
  expect(lines[0]).toMatch(/rejected the credentials of client .+orders-api.+ \(401\)/)
  expect(lines[0]).not.toMatch(/orders-secret|hidden-/)

  underTest.clock.advance(59_999)
  expect(await statusOf('hidden-four')).toBe(503)
  expect(lines).toHaveLength(1)
  underTest.clock.advance(1)
  expect(await statusOf('hidden-five')).toBe(503)
  expect(lines).toHaveLength(2)
})

it.each([
  ['Express writes nothing to the console', startExpress, 0],
  ['a fetch handler writes nothing to the console', createHandler, 0],
  ['Fastify writes to its log', startFastify, 1],
  ['Fastify without a logger writes nothing to the console', startFastifyWithoutLog, 0],
  ['NestJS writes to its log', startNest, 1],
])('%s while a listener receives the reason', async (_name, start, logged) => {
  const underTest = createVerifierUnderTest()
  const lines: string[] = []
  const statusOf = await start(underTest.verifier, (line) => void lines.push(line))
  underTest.respond = () => new Response('', { status: 500 })
  expect(await statusOf('other')).toBe(503)
  expect(lines).toHaveLength(logged)
  expect(underTest.events).toContainEqual(
    expect.objectContaining({ error: expect.objectContaining({ kind: 'unavailable' }) }),
  )
})

/** An API that expects another audience than its tokens have. */
const forOthers = (options: Partial<TokenVerifierOptions> = {}) =>
  createTokenVerifier({ issuer, audience: 'orders', jwks: { keys: [key.publicJwk] }, ...options })
const issuer = 'https://auth.example.com'
const key = await createSigningKey()
const accepted = { iss: issuer, aud: 'orders', sub: 's', client_id: 'c', iat: 1, exp: 4_000_000_000 }
const sign = (claims: Record<string, unknown>) =>
  new SignJWT({ ...accepted, jti: crypto.randomUUID(), ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt' })
    .sign(key.privateKey)

const frameworks: readonly [name: string, start: StartApi][] = [
  ['Express', startExpress],
  ['a fetch handler', createHandler],
  ['Fastify', startFastify],
  ['Fastify without a logger', startFastifyWithoutLog],
  ['NestJS', startNest],
]

it.each(frameworks)('%s logs once a minute why JWTs are rejected, for each claim', async (_name, start) => {
  const lines: string[] = []
  const clock = createFakeClock()
  const statusOf = await start(forOthers({ clock }), (line) => void lines.push(line))
  const tokens = [{ aud: 'billing' }, { aud: 'x' }, { iss: `${issuer}/` }, { exp: 1 }, { aud: 'y' }].map(sign)
  for (const token of tokens) expect(await statusOf(await token)).toBe(401)
  const said = [
    /its aud is .*billing.* Expected: orders\./,
    /its iss is .*\/.* Expected: https:\/\/auth\.example\.com\./,
    /its exp is .*1970-01-01T00:00:01\.000Z.* Expected: a time after /,
  ]
  expect(lines).toEqual(said.map((text) => expect.stringMatching(text)))
  for (const token of await Promise.all(tokens)) expect(lines.join()).not.toContain(token.split('.')[1])
  clock.advance(60_000)
  expect(await statusOf(await sign({ aud: 'z' }))).toBe(401)
  expect(lines).toHaveLength(4)
})

it.each(frameworks)('%s explains the first rejections in development, once each', async (_name, start) => {
  vi.stubEnv('NODE_ENV', 'development')
  onTestFinished(() => void vi.unstubAllEnvs())
  const lines: string[] = []
  const clock = createFakeClock()
  const statusOf = await start(forOthers({ clock }), (line) => void lines.push(line))
  for (const claims of [{ aud: 'billing' }, { iss: `${issuer}/` }, { exp: 1 }])
    await statusOf(await sign(claims))
  const explained = lines.filter((line) => /set `(?:audience|issuer)`/.test(line))
  expect(explained).toEqual([expect.stringContaining('`audience`'), expect.stringContaining('`issuer`')])
  clock.advance(60_000)
  await statusOf(await sign({ aud: 'billing' }))
  expect(lines.filter((line) => /set `(?:audience|issuer)`/.test(line))).toHaveLength(2)
})

it('a rejection is not explained in production', async () => {
  vi.stubEnv('NODE_ENV', 'production')
  onTestFinished(() => void vi.unstubAllEnvs())
  const lines: string[] = []
  const statusOf = await startExpress(forOthers(), (line) => void lines.push(line))
  await statusOf(await sign({ aud: 'billing' }))
  expect(lines).toEqual(['An access token was rejected: its aud is "billing". Expected: orders.'])
})

it('the log explains an ID token by what the client must send, and advises no option that is set', async () => {
  const key = await createSigningKey()
  vi.stubEnv('NODE_ENV', 'development')
  onTestFinished(() => void vi.unstubAllEnvs())
  const lineFor = async (header: object, claims: object, options: Partial<TokenVerifierOptions>) => {
    const lines: string[] = []
    const verifier = createTokenVerifier({
      issuer: 'https://sso.example.com',
      audience: 'orders',
      jwks: { keys: [key.publicJwk] },
      ...options,
    })
    const token = await new SignJWT({ client_id: 'client', jti: '1', ...claims })
      .setProtectedHeader({ alg: 'ES256', ...header })
      .setIssuer('https://sso.example.com')
      .setAudience('orders')
      .setSubject('subject')
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(key.privateKey)
    await (
      await startFastify(verifier, (line) => void lines.push(line))
    )(token)
    return lines.join()
  }
  const keycloak = { typ: 'JWT', claims: { typ: 'Bearer' } }
  const idToken = await lineFor({ typ: 'JWT' }, { typ: 'ID' }, keycloak)
  expect(idToken).toContain('The client sends its ID token')
  expect(idToken).not.toContain('Set `typ')
  expect(await lineFor({ typ: 'JWT' }, { typ: 'Other' }, keycloak)).not.toMatch(/Set|ID token/)
  expect(await lineFor({ typ: 'logout+jwt' }, {}, keycloak)).toContain('add it to `typ`')
  expect(await lineFor({ typ: 'JWT' }, {}, {})).toContain("Set `typ: 'JWT'`")
})
