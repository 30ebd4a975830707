import { createTokenPool, createTokenProvider, type TokenPool } from '@tokenwell/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startProtectedApi, type ProtectedApi } from '../servers/protected-api.ts'
import { json } from '../servers/scripted-server.ts'
import type { AdapterClient, AdapterUnderTest } from './adapter-under-test.ts'

// Not a multiple of the periods below.
const tenantCount = 7
const requestCount = 240
const statuses = [301, 302, 303, 307, 308]

/** Tenants with tokens and an API of their own: the provider is selected for each request. */
export function describeTenants(adapter: AdapterUnderTest): void {
  describe('with a provider selected for each request', () => {
    let apis: ProtectedApi[]
    let pool: TokenPool<number>
    let issued: string[]
    let selections: string[]
    let client: AdapterClient

    beforeEach(async () => {
      apis = await Promise.all(Array.from({ length: tenantCount }, startProtectedApi))
      issued = []
      selections = []
      pool = createTokenPool((tenant: number) =>
        createTokenProvider({
          cacheKey: async () => String(tenant),
          async requestToken() {
            const token = `tenant-${tenant}-${issued.length}`
            issued.push(token)
            return { accessToken: token, tokenType: 'Bearer', expiresIn: 3600, scope: [] }
          },
        }),
      )
      const origins = apis.map(({ origin }) => origin)
      client = await adapter.createClient({
        tokens({ url, method }) {
          selections.push(`${method} ${url.href}`)
          return url.pathname === '/public' ? undefined : pool.for(origins.indexOf(url.origin))
        },
        options: { allowedOrigins: origins },
      })
    })
    afterEach(async () => {
      await pool.close()
      await Promise.all(apis.map((api) => api.close()))
    })

    it('attaches its token, and none if there is no provider', async () => {
      const [first, second] = apis as [ProtectedApi, ProtectedApi]
      expect((await client({ url: `${first.origin}/a?b=c` })).status).toBe(200)
      expect((await client({ url: `${second.origin}/`, method: 'DELETE' })).status).toBe(200)
      expect((await client({ url: `${first.origin}/public` })).status).toBe(401)
      expect(first.tokens).toStrictEqual(['tenant-0-0', undefined])
      expect(second.tokens).toStrictEqual(['tenant-1-1'])
      expect(selections.slice(0, 2)).toStrictEqual([`GET ${first.origin}/a?b=c`, `DELETE ${second.origin}/`])
    })

    it('replaces a rejected token by one of the same tenant', async () => {
      const [first, second] = apis as [ProtectedApi, ProtectedApi]
      await client({ url: second.origin })
      first.rejects = (token) => token === 'tenant-0-1'
      expect((await client({ url: first.origin })).status).toBe(200)
      expect((await client({ url: second.origin })).status).toBe(200)
      expect(first.tokens).toStrictEqual(['tenant-0-1', 'tenant-0-2'])
      expect(second.tokens).toStrictEqual(['tenant-1-0', 'tenant-1-0'])
    })

    it('sends nothing if the selection fails', async () => {
      const [api] = apis as [ProtectedApi]
      const failing = await adapter.createClient({
        tokens() {
          throw new Error('unknown tenant')
        },
        options: { allowedOrigins: [api.origin] },
      })
      await expect(failing({ url: api.origin })).rejects.toThrow('unknown tenant')
      expect(api.requests).toHaveLength(0)
    })

    it("never sends a tenant's token to another, whatever is redirected and revoked", async () => {
      for (const [tenant, api] of apis.entries()) {
        const { respond } = api
        const revoked = new Set<string>()
        api.rejects = (token) => revoked.has(token)
        api.respond = (request) => {
          const [, to, status] = /^\/to\/(\d+)\/(\d+)/.exec(request.url) ?? []
          if (to) return { status: Number(status), headers: { location: `${apis[Number(to)]!.origin}/` } }
          const latest = issued.findLast((token) => token.startsWith(`tenant-${tenant}-`))
          if (request.url === '/revoke' && latest) revoked.add(latest)
          return request.url === '/revoke' ? json({}) : respond(request)
        }
      }
      const results = await Promise.all(
        Array.from({ length: requestCount }, async (_, index) => {
          const from = index % tenantCount
          const to = (index + Math.floor(index / tenantCount)) % tenantCount
          const { origin } = apis[from]!
          const body = index % 3 === 0 ? ({ kind: 'json', value: { index } } as const) : undefined
          const redirected = `to/${to}/${statuses[Math.floor(index / 2) % 5]}`
          const path = index % 4 === 0 ? '' : index % 31 === 0 ? 'revoke' : redirected
          const { status } = await client({ url: `${origin}/${path}`, ...(body && { body }) })
          const expected =
            path !== redirected || (from === to && !body) ? [200] : from === to ? [200, 401] : [401]
          return { path, status, expected }
        }),
      )
      const strangers = apis.flatMap((api, tenant) =>
        api.tokens.filter((token) => token && !token.startsWith(`tenant-${tenant}-`)),
      )
      expect(strangers).toStrictEqual([])
      expect(results.filter(({ status, expected }) => !expected.includes(status))).toStrictEqual([])
      // Only a revoked token was replaced: a 401 without a token says nothing about it.
      expect(issued.length).toBeGreaterThan(tenantCount)
      expect(issued.length).toBeLessThanOrEqual(tenantCount + requestCount / 31)
    })
  })
}
