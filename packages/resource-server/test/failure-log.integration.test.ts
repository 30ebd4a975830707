import { createServer } from 'node:http'
import { Controller, Get } from '@nestjs/common'
import { Test } from '@nestjs/testing'
import express from 'express'
import Fastify, { type FastifyInstance } from 'fastify'
import 'reflect-metadata'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { TokenVerifier } from '@tokenwell/resource-server'
import { requireToken as connectMiddleware } from '@tokenwell/resource-server/express'
import { resourceServer } from '@tokenwell/resource-server/fastify'
import { requireToken } from '@tokenwell/resource-server/fetch'
import { ResourceServerModule } from '@tokenwell/resource-server/nestjs'
import { listen } from './apis/node-apis.ts'
import { createVerifierUnderTest } from './verifier-under-test.ts'

/** Starts an API of one framework: its status for a token. */
type StartApi = (verifier: TokenVerifier, log: (line: string) => void) => Promise<StatusOf>
type StatusOf = (token: string) => Promise<number>

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const logToConsole = (log: (line: string) => void) =>
  vi.spyOn(console, 'error').mockImplementation((...parts) => log(parts.join(' ')))

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
  const logger = { log: ignore, warn: ignore, error: (...parts: unknown[]) => log(parts.join(' ')) }
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
