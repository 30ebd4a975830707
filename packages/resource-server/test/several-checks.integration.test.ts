import { createServer } from 'node:http'
import { Controller, Get, UseGuards } from '@nestjs/common'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { Test } from '@nestjs/testing'
import express from 'express'
import Fastify from 'fastify'
import 'reflect-metadata'
import { expect, it, onTestFinished } from 'vitest'
import type { TokenVerifier } from '@tokenwell/resource-server'
import { requireToken } from '@tokenwell/resource-server/express'
import { resourceServer } from '@tokenwell/resource-server/fastify'
import { requireToken as requireTokenFor } from '@tokenwell/resource-server/fetch'
import { RequireScopes, ResourceServerModule, TokenGuard } from '@tokenwell/resource-server/nestjs'
import { createTestVerifier } from '@tokenwell/resource-server/testing'
import { listen } from './apis/node-apis.ts'
import { createDpopKey } from './servers/jwt-issuer.ts'

const first = { scopes: ['read'] }
const second = { scopes: ['write'] }

@Controller()
@UseGuards(TokenGuard)
class OrdersController {
  @Get('orders')
  @UseGuards(TokenGuard)
  @RequireScopes('read', 'write')
  list(): object {
    return {}
  }
}

const startNest = (adapter: () => ExpressAdapter | FastifyAdapter) => async (verifier: TokenVerifier) => {
  const testing = await Test.createTestingModule({
    imports: [ResourceServerModule.forRoot({ verifier, guardAll: true })],
    controllers: [OrdersController],
  }).compile()
  const app = testing.createNestApplication(adapter(), { logger: false })
  onTestFinished(() => app.close())
  await app.listen(0, '127.0.0.1')
  const url = `${await app.getUrl()}/orders`
  return { url, send: (headers: HeadersInit) => fetch(url, { headers }) }
}

/** Each checks a request several times with one verifier. */
const apis = {
  async Express(verifier: TokenVerifier) {
    const app = express().use(requireToken(verifier, first))
    app.get('/orders', requireToken(verifier, second), (_request, response) => void response.json({}))
    const api = await listen(createServer(app))
    onTestFinished(() => api.close())
    const url = `${api.origin}/orders`
    return { url, send: (headers: HeadersInit) => fetch(url, { headers }) }
  },
  async Fastify(verifier: TokenVerifier) {
    const app = Fastify({ forceCloseConnections: true })
    app.register(resourceServer, { verifier, ...first })
    app.register(async (nested) => {
      nested.register(resourceServer, { verifier, ...second })
      nested.get('/orders', async () => ({}))
    })
    onTestFinished(() => app.close())
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    return { url: `${origin}/orders`, send: (headers: HeadersInit) => fetch(`${origin}/orders`, { headers }) }
  },
  async fetch(verifier: TokenVerifier) {
    const url = 'https://orders.example.com/orders'
    const inner = requireTokenFor(verifier, () => Response.json({}), second)
    const handle = requireTokenFor(verifier, (request) => inner(request), first)
    return { url, send: (headers: HeadersInit) => handle(new Request(url, { headers })) }
  },
  'NestJS on Express': startNest(() => new ExpressAdapter()),
  'NestJS on Fastify': startNest(() => new FastifyAdapter()),
}

it.each(Object.entries(apis))(
  '%s checks one request several times, and accepts its proof only for this request',
  async (_name, start) => {
    const { verifier, createTestToken } = createTestVerifier()
    const { thumbprint, prove } = await createDpopKey()
    const { url, send } = await start(verifier)
    const headersFor = async (scopes: string[]) => {
      const token = createTestToken({ scopes, claims: { cnf: { jkt: thumbprint } } })
      return { authorization: `DPoP ${token}`, dpop: await prove({ method: 'GET', url, token }) }
    }
    const headers = await headersFor(['read', 'write'])
    expect((await send(headers)).status).toBe(200)
    const replayed = await send(headers)
    expect([replayed.status, replayed.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('The DPoP proof has already been used'),
    ])
    for (const scope of ['read', 'write']) expect((await send(await headersFor([scope]))).status).toBe(403)
  },
)
