import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { AttachOptions } from '@tokenwell/core'
import { startServer } from '../../support/local-server.ts'
import { start } from './protected-api.ts'

describe('a redirect', () => {
  async function redirecting(options: Partial<AttachOptions>, status = 302) {
    const elsewhere: IncomingMessage['headers'][] = []
    const target = await startServer((request, response) => {
      elsewhere.push(request.headers)
      response.statusCode = 401
      response.end('elsewhere')
    })
    const started = await start(options, (request, response) => {
      const location = request.url === '/here' ? '/end' : `${target}/end`
      response.writeHead(request.url === '/end' ? 200 : status, request.url === '/end' ? {} : { location })
      response.end('end')
    })
    return { ...started, elsewhere }
  }

  it.each([301, 302, 303, 307, 308])('(%d) to another origin does not carry the token', async (status) => {
    const { api, elsewhere, issuer, tokenFetch, tokens } = await redirecting({}, status)
    const response = await tokenFetch(`${api}/away`)
    expect([response.status, await response.text()]).toEqual([401, 'elsewhere'])
    expect(elsewhere).toHaveLength(1)
    expect(elsewhere[0]).not.toHaveProperty('authorization')
    // Its 401 does not concern the token.
    expect(tokens.peekToken()?.value).toBe('token-1')
    expect(issuer.requests).toBe(1)
  })

  it('within the origin carries the token', async () => {
    const { api, seen, tokenFetch } = await redirecting({})
    expect((await tokenFetch(`${api}/here`)).status).toBe(200)
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-1'])
  })

  it('is not followed with a custom header, which clients do not drop', async () => {
    const { api, elsewhere, seen, tokenFetch } = await redirecting({ header: 'X-Access-Token', scheme: '' })
    const response = await tokenFetch(`${api}/away`)
    expect(response.status).toBe(302)
    expect(seen[0]!.headers['x-access-token']).toBe('token-1')
    expect(elsewhere).toEqual([])
    await expect(tokenFetch(new Request(`${api}/away`))).resolves.toMatchObject({ status: 302 })
    expect(elsewhere).toEqual([])
  })

  it('that the caller forbids remains forbidden with a custom header', async () => {
    const { api, tokenFetch } = await redirecting({ header: 'X-Access-Token' })
    await expect(tokenFetch(`${api}/away`, { redirect: 'error' })).rejects.toThrow()
  })
})
