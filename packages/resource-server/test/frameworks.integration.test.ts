import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import type { ErrorRequestHandler, RequestHandler } from 'express'
import Fastify from 'fastify'
import Fastify4 from 'fastify-4'
import { expect, it, onTestFinished } from 'vitest'
import type { VerifiedToken } from '@tokenwell/resource-server'
import { requireToken } from '@tokenwell/resource-server/express'
import { resourceServer } from '@tokenwell/resource-server/fastify'
import { createVerifierUnderTest, delayIntrospection, type VerifierUnderTest } from './verifier-under-test.ts'

/** Responds with the code of an error that reaches it. */
const reportError: ErrorRequestHandler = (error: Error, _request, response, next) => {
  if (response.headersSent) return next(error)
  response.status(500).json({ name: error.name })
}

async function start({ verifier }: VerifierUnderTest, ...before: RequestHandler[]): Promise<string> {
  const app = express()
    .use(...before, requireToken(verifier))
    .get('/', (_request, response) => void response.json({}))
    .use(reportError)
  const server = createServer(app).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const authorized = { headers: { authorization: 'Bearer bad' } }

it('a request that something else has responded to in the meantime is left alone', async () => {
  const underTest = createVerifierUnderTest()
  const { asked, respond } = delayIntrospection(underTest)
  const origin = await start(underTest, (_request, response, next) => {
    next()
    void asked.then(() => response.status(504).end('too late', respond))
  })
  const response = await fetch(origin, authorized)
  expect([response.status, await response.text()]).toEqual([504, 'too late'])
  // An error of the rejected request would be an unhandled rejection.
  await expect.poll(() => underTest.events.map(({ type }) => type)).toContain('request_rejected')
})

it('a body that cannot be sent as JSON is an error of the application', async () => {
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  const origin = await start(createVerifierUnderTest({}, { errors: () => circular }))
  const response = await fetch(origin, authorized)
  expect([response.status, await response.json()]).toEqual([500, { name: 'TypeError' }])
})

it('a function for bodies that throws is an error of the application', async () => {
  const errors = (): object => {
    throw new RangeError('of the application')
  }
  const origin = await start(createVerifierUnderTest({}, { errors }))
  const response = await fetch(origin, authorized)
  expect([response.status, await response.json()]).toEqual([500, { name: 'RangeError' }])
})

it('a request that something else has responded to in the meantime is left alone', async () => {
  const underTest = createVerifierUnderTest()
  const { asked, respond } = delayIntrospection(underTest)
  const app = Fastify({ forceCloseConnections: true })
  onTestFinished(() => app.close())
  app.addHook('onRequest', (_request, reply, done) => {
    done()
    void asked.then(() => reply.code(504).send('too late')).then(respond)
  })
  app.register(resourceServer, { verifier: underTest.verifier })
  app.get('/', async () => ({}))
  const response = await fetch(await app.listen({ host: '127.0.0.1', port: 0 }), {
    headers: { authorization: 'Bearer bad' },
  })
  expect([response.status, await response.text()]).toEqual([504, 'too late'])
  await expect.poll(() => underTest.events.map(({ type }) => type)).toContain('request_rejected')
})

it('a misspelt requirement of a route in Fastify is an error at the start, or of the route', async () => {
  const { verifier } = createVerifierUnderTest()
  const misspelt = { config: { accessToken: { scope: ['orders'] } as never } }
  const loaded = Fastify()
  await loaded.register(resourceServer, { verifier, prefix: '/v1', logLevel: 'warn' })
  expect(() => loaded.get('/', misspelt, async () => 'open')).toThrow('scope is not a requirement.')
  const early = Fastify()
  early.register(resourceServer, { verifier })
  early.get('/', misspelt, async () => 'open')
  const response = await early.inject({ url: '/', headers: { authorization: 'Bearer good' } })
  expect([response.statusCode, response.body]).toEqual([500, expect.not.stringContaining('open')])
  await expect(Fastify().register(resourceServer, { verifier, scope: ['orders'] } as never)).rejects.toThrow(
    'scope is not a requirement.',
  )
})

it('Fastify 4 is told at the start which version the plugin needs', async () => {
  const { verifier } = createVerifierUnderTest()
  const app = Fastify4().register(resourceServer as never, { verifier } as never)
  await expect(app.ready()).rejects.toThrow(
    /@tokenwell\/resource-server - expected '5\.x' fastify version, '4\.\d+\.\d+' is installed/,
  )
})

it('the user of a request is found after all requirements, in Express and Fastify', async () => {
  const underTest = createVerifierUnderTest()
  underTest.respond = (token) => ({
    active: true,
    client_id: token,
    scope: token === 'narrow' ? '' : 'orders:read',
  })
  const calls: string[] = []
  const options = {
    scopes: ['orders:read'],
    user: async ({ clientId }: VerifiedToken, { url }: { readonly url?: string | undefined }) => {
      calls.push(`${clientId} ${url}`)
      if (clientId === 'broken') throw new RangeError('of the application')
      return { shop: { name: 'Ada' }, nobody: undefined, refused: false }[clientId!]
    },
  }
  const app = express()
    .use(requireToken(underTest.verifier, options))
    .get('/', (request, response) => void response.json((request as { user?: unknown }).user))
    .use(reportError)
  const server = createServer(app).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const fastify = Fastify()
  onTestFinished(() => fastify.close())
  fastify.register(resourceServer, { verifier: underTest.verifier, ...options })
  fastify.get('/', (request, reply) => reply.send((request as { user?: unknown }).user))
  const origins = [
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    await fastify.listen({ host: '127.0.0.1', port: 0 }),
  ]
  for (const origin of origins) {
    const responseTo = (token: string) => fetch(origin, { headers: { authorization: `Bearer ${token}` } })
    expect(await (await responseTo('shop')).json()).toEqual({ name: 'Ada' })
    const statuses = ['nobody', 'refused', 'broken', 'narrow'].map(
      async (token) => (await responseTo(token)).status,
    )
    expect(await Promise.all(statuses)).toEqual([401, 401, 500, 403])
  }
  const each = ['shop /', 'nobody /', 'refused /', 'broken /']
  expect(calls.toSorted()).toEqual([...each, ...each].toSorted())
  expect(underTest.events).toContainEqual(
    expect.objectContaining({
      type: 'request_rejected',
      clientId: 'nobody',
      reason: { claim: 'user', received: null, expected: 'a user that the function `user` returns' },
    }),
  )
})
