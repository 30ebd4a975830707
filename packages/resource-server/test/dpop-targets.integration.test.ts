import { createServer, type Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { Controller, Get, UseGuards } from '@nestjs/common'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { Test } from '@nestjs/testing'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import 'reflect-metadata'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { TokenVerifier } from '@tokenwell/resource-server'
import { requireToken } from '@tokenwell/resource-server/express'
import { resourceServer } from '@tokenwell/resource-server/fastify'
import { requireToken as requireTokenFor } from '@tokenwell/resource-server/fetch'
import { ResourceServerModule, TokenGuard } from '@tokenwell/resource-server/nestjs'
import { createTestVerifier } from '@tokenwell/resource-server/testing'
import { listen } from './apis/node-apis.ts'
import { sendRawRequest } from './send-request.ts'
import { createDpopKey } from './servers/jwt-issuer.ts'

@Controller()
@UseGuards(TokenGuard)
class ApiController {
  @Get('public-profile')
  profile(): object {
    return {}
  }

  @Get(['payments/:id', 'payments/:parent/:id'])
  payments(): object {
    return {}
  }
}

const startNest = (adapter: () => ExpressAdapter | FastifyAdapter) => async (verifier: TokenVerifier) => {
  const testing = await Test.createTestingModule({
    imports: [ResourceServerModule.forRoot({ verifier })],
    controllers: [ApiController],
  }).compile()
  const app = testing.createNestApplication(adapter(), { logger: false })
  onTestFinished(() => app.close())
  await app.listen(0, '127.0.0.1')
  return app.getUrl()
}

const servers = {
  async Express(verifier: TokenVerifier) {
    const app = express().use(requireToken(verifier))
    app.get('/public-profile', (_request, response) => void response.json({}))
    app.get('/payments/*rest', (_request, response) => void response.json({}))
    const api = await listen(createServer(app))
    onTestFinished(() => api.close())
    return api.origin
  },
  async Fastify(verifier: TokenVerifier) {
    const app = Fastify({ forceCloseConnections: true })
    app.register(resourceServer, { verifier })
    app.get('/public-profile', async () => ({}))
    app.get('/payments/*', async () => ({}))
    onTestFinished(() => app.close())
    return app.listen({ host: '127.0.0.1', port: 0 })
  },
  async Hono(verifier: TokenVerifier) {
    const app = new Hono()
    const handle = requireTokenFor(verifier, () => Response.json({}))
    app.get('/public-profile', ({ req }) => handle(req.raw))
    app.get('/payments/*', ({ req }) => handle(req.raw))
    const { Request, Response: Original } = Object.getOwnPropertyDescriptors(globalThis)
    const api = await listen(createAdaptorServer({ fetch: app.fetch }) as Server)
    onTestFinished(async () => {
      await api.close()
      Object.defineProperties(globalThis, { Request, Response: Original })
    })
    return api.origin
  },
  'NestJS on Express': startNest(() => new ExpressAdapter()),
  'NestJS on Fastify': startNest(() => new FastifyAdapter()),
}

/** What an attacker makes of a request to send a proof for `/public-profile` elsewhere. */
const attacks: readonly (readonly [target: string, ...hosts: ((host: string) => string)[]])[] = [
  ['/payments/7', (host) => `${host}/public-profile?`],
  ['/payments/7', (host) => `${host}/public-profile#`],
  ['/payments/7', (host) => `${host}\\public-profile?`],
  ['/payments/7', (host) => `${host}\\..\\..\\public-profile#`],
  ['/payments/7', (host) => `user@${host}/public-profile?`],
  ['/payments/7', (host) => host, (host) => `${host}/public-profile?`],
  ['/payments/../public-profile', (host) => host],
  ['/payments/%2e%2e/public-profile', (host) => host],
  ['/payments/%2E./public-profile', (host) => host],
  ['/payments\\..\\public-profile', (host) => host],
  ['/payments/x/..\\../public-profile', (host) => host],
  ['/payments/7#/../../public-profile', (host) => host],
  ['http://HOST?/payments/7', (host) => host],
  ['http://HOST\\public-profile?/payments/7', (host) => host],
  ['http://HOST/payments/7', (host) => `${host}/public-profile?`],
  ['http://HOST/payments/../public-profile', (host) => host],
]

describe.each(Object.entries(servers))('a DPoP proof for one path, with %s', (name, start) => {
  const setUp = async (withPublicUrl: boolean) => {
    const reference = createTestVerifier({ dpop: {} })
    let verifier = reference.verifier
    const origin = await start({
      verify: ((...parameters) => verifier.verify(...parameters)) as TokenVerifier['verify'],
      subscribe: () => () => {},
    })
    const { thumbprint, prove } = await createDpopKey()
    const at = withPublicUrl ? createTestVerifier({ dpop: {}, publicUrl: origin }) : reference
    verifier = at.verifier
    const token = at.createTestToken({ claims: { cnf: { jkt: thumbprint } } })
    const send = async (path: string, target: string, hosts: readonly string[]) =>
      sendRawRequest(origin, target, [
        ...hosts.map((host) => ['Host', host] as const),
        ['Authorization', `DPoP ${token}`],
        ['DPoP', await prove({ method: 'GET', url: `${origin}${path}`, token })],
      ])
    return { send, host: new URL(origin).host }
  }

  it.each([false, true])('opens no other path, with publicUrl: %s', async (withPublicUrl) => {
    const { send, host } = await setUp(withPublicUrl)
    for (const [target, ...hosts] of attacks) {
      const status = await send(
        '/public-profile',
        target.replace('HOST', host),
        hosts.map((of) => of(host)),
      )
      // Hono's router sees the path that the URL parser resolved, so this is a request for the proven path.
      if (name === 'Hono' && target.endsWith('public-profile')) continue
      expect([target, hosts.length, status]).not.toContain(200)
    }
  })

  it.each([false, true])(
    'is accepted for it in origin-form and absolute-form, with publicUrl: %s',
    async (withPublicUrl) => {
      const { send, host } = await setUp(withPublicUrl)
      expect(await send('/payments/7', '/payments/7?page=2', [host])).toBe(200)
      expect(await send('/public-profile', '/public-profile', [host])).toBe(200)
      expect(await send('/payments/7', `http://${host}/payments/7?page=2`, [host])).toBe(200)
    },
  )

  it('gets a 400 with a Host that is more than a host and a port', async () => {
    const { send, host } = await setUp(true)
    for (const invalid of [`${host}/public-profile?`, `${host}#`, `user@${host}`, `${host}\\x`, 'x y']) {
      expect(await send('/public-profile', '/public-profile', [invalid])).toBe(400)
    }
  })
})
