import { createServer } from 'node:http'
import { Controller, Post } from '@nestjs/common'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { Test } from '@nestjs/testing'
import { clientCredentialsForResource, createTokenFetch } from '@tokenwell/core'
import express from 'express'
import Fastify from 'fastify'
import 'reflect-metadata'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createTokenVerifier,
  type TokenVerifier,
  type TokenVerifierOptions,
} from '@tokenwell/resource-server'
import { requireToken, resourceMetadata } from '@tokenwell/resource-server/express'
import { resourceServer } from '@tokenwell/resource-server/fastify'
import {
  requireToken as requireTokenFor,
  resourceMetadata as metadataFor,
} from '@tokenwell/resource-server/fetch'
import { RequireScopes, ResourceServerModule } from '@tokenwell/resource-server/nestjs'
import { listen } from './apis/node-apis.ts'
import { startJwtIssuer } from './servers/jwt-issuer.ts'

const scopes = ['orders:read']

@Controller()
class McpController {
  @Post('mcp')
  @RequireScopes('orders:read')
  respond(): object {
    return {}
  }
}

const startNest = (adapter: () => ExpressAdapter | FastifyAdapter) => async (create: CreateVerifier) => {
  const origin = await freeOrigin()
  const verifier = create(`${origin}/mcp`)
  const testing = await Test.createTestingModule({
    imports: [ResourceServerModule.forRoot({ verifier, guardAll: true })],
    controllers: [McpController],
  }).compile()
  const app = testing.createNestApplication(adapter(), { logger: false })
  onTestFinished(() => app.close())
  await app.listen(Number(new URL(origin).port), '127.0.0.1')
  return origin
}

type CreateVerifier = (resource: string) => TokenVerifier

async function freeOrigin(): Promise<string> {
  const server = await listen(createServer())
  await server.close()
  return server.origin
}

/** The same API in every framework; each returns its origin. */
const apis = {
  async Express(create: CreateVerifier) {
    const origin = await freeOrigin()
    const verifier = create(`${origin}/mcp`)
    const app = express().use(resourceMetadata(verifier))
    app.post('/mcp', requireToken(verifier, { scopes }), (_request, response) => void response.json({}))
    const server = app.listen(Number(new URL(origin).port), '127.0.0.1')
    onTestFinished(() => void server.close())
    return origin
  },
  async Fastify(create: CreateVerifier) {
    const origin = await freeOrigin()
    const verifier = create(`${origin}/mcp`)
    const app = Fastify({ forceCloseConnections: true })
    app.register(resourceServer, { verifier })
    app.register(async (nested) => {
      nested.register(resourceServer, { verifier })
    })
    app.after(() => app.post('/mcp', { config: { accessToken: { scopes } } }, async () => ({})))
    onTestFinished(() => app.close())
    return app.listen({ host: '127.0.0.1', port: Number(new URL(origin).port) })
  },
  'NestJS on Express': startNest(() => new ExpressAdapter()),
  'NestJS on Fastify': startNest(() => new FastifyAdapter()),
}

describe.each(Object.entries(apis))('%s', (_name, start) => {
  it('serves its metadata, names it in challenges, and @tokenwell/core finds the issuer by it', async () => {
    const issuer = await startJwtIssuer()
    onTestFinished(() => issuer.close())
    const origin = await start((resource) =>
      createTokenVerifier({
        issuer: issuer.issuer,
        jwksUrl: `${issuer.issuer}/jwks`,
        resource,
        scopesSupported: ['orders:read', 'orders:write'],
        onEvent: () => {},
      }),
    )
    const url = `${origin}/.well-known/oauth-protected-resource/mcp`
    const response = await fetch(url)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(await response.json()).toEqual({
      resource: `${origin}/mcp`,
      authorization_servers: [issuer.issuer],
      scopes_supported: ['orders:read', 'orders:write'],
      bearer_methods_supported: ['header'],
    })
    expect((await fetch(`${url}/other`)).status).not.toBe(200)
    const challenge = async (authorization?: string) => {
      const rejected = await fetch(`${origin}/mcp`, {
        method: 'POST',
        headers: { ...(authorization !== undefined && { authorization }) },
      })
      return `${rejected.status} ${rejected.headers.get('www-authenticate')}`
    }
    expect(await challenge()).toBe(`401 Bearer realm="api", scope="orders:read", resource_metadata="${url}"`)
    expect(await challenge('Bearer x')).toMatch(/^401 .*error="invalid_token".*resource_metadata=/)
    const narrow = await issuer.sign({ aud: `${origin}/mcp`, scope: 'other' })
    expect(await challenge(`Bearer ${narrow}`)).toMatch(
      /^403 .*error="insufficient_scope".*scope="orders:read", resource_metadata=/,
    )
    const requests: URLSearchParams[] = []
    const tokens = clientCredentialsForResource({
      protectedResource: `${origin}/mcp`,
      trustedIssuers: [issuer.issuer],
      clientId: 'client',
      clientSecret: 'secret',
      fetch: async (input, init) => {
        const { pathname } = new URL(input instanceof Request ? input.url : input)
        if (pathname.endsWith('oauth-authorization-server')) {
          return Response.json({ issuer: issuer.issuer, token_endpoint: `${issuer.issuer}/token` })
        }
        if (pathname !== '/token') return fetch(input, init)
        const form = new URLSearchParams(init?.body as string)
        requests.push(form)
        const claims = { aud: form.get('resource'), scope: form.get('scope') }
        return Response.json({
          access_token: await issuer.sign(claims),
          token_type: 'Bearer',
          expires_in: 600,
        })
      },
    })
    const apiFetch = createTokenFetch(tokens, { allowedOrigins: [origin] })
    expect((await apiFetch(`${origin}/mcp`, { method: 'POST' })).ok).toBe(true)
    expect(requests.map((form) => form.get('resource'))).toEqual([`${origin}/mcp`])
  })
})

describe('metadata', () => {
  const options: TokenVerifierOptions = {
    introspection: { authUrl: 'https://auth.example.com/', clientId: 'api', clientSecret: 'secret' },
    resource: 'https://api.example.com',
  }

  it('is served to web-standard requests', async () => {
    const verifier = createTokenVerifier(options)
    const url = 'https://api.example.com/.well-known/oauth-protected-resource'
    expect(await metadataFor(verifier, new Request(url))?.json()).toEqual({
      resource: 'https://api.example.com',
      authorization_servers: ['https://auth.example.com'],
      bearer_methods_supported: ['header'],
    })
    for (const request of [new Request(`${url}/x`), new Request(url, { method: 'POST' })]) {
      expect(metadataFor(verifier, request)).toBeUndefined()
    }
    const handle = requireTokenFor(verifier, () => new Response())
    const { headers } = await handle(new Request('https://api.example.com/'))
    expect(headers.get('www-authenticate')).toBe(`Bearer realm="api", resource_metadata="${url}"`)
  })

  it('is not served without the option', () => {
    const verifier = createTokenVerifier({ ...options, resource: undefined })
    const url = 'https://api.example.com/.well-known/oauth-protected-resource'
    expect(metadataFor(verifier, new Request(url))).toBeUndefined()
  })

  it('names DPoP and other authorization servers', () => {
    const { resourceMetadata: metadata } = createTokenVerifier({
      ...options,
      resource: 'https://api.example.com/v1/?tenant=a',
      authorizationServers: ['https://a.example.com', 'https://b.example.com'],
      dpop: { required: true, algorithms: ['ES256'] },
    })
    expect(metadata).toEqual({
      url: 'https://api.example.com/.well-known/oauth-protected-resource/v1?tenant=a',
      path: '/.well-known/oauth-protected-resource/v1',
      document: {
        resource: 'https://api.example.com/v1/?tenant=a',
        authorization_servers: ['https://a.example.com', 'https://b.example.com'],
        bearer_methods_supported: ['header'],
        dpop_signing_alg_values_supported: ['ES256'],
        dpop_bound_access_tokens_required: true,
      },
    })
  })

  it.each(['api', 'http://api.example.com', 'https://api.example.com/#x'])('rejects %s', (resource) => {
    expect(() => createTokenVerifier({ ...options, resource })).toThrow('resource ')
  })
})
