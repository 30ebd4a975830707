import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { allowInsecureRequests, ClientSecretPost, clientCredentialsGrant, discovery } from 'openid-client'
import { describe, expect, it } from 'vitest'
import { administeredService, application, requestToken, testService, tokenPath } from '../test-service.ts'

describe('browser-based API tools', () => {
  const origin = 'https://tools.example.com'
  const preflight = (authUrl: string, from = origin) =>
    fetch(`${authUrl}${tokenPath}?grant_type=client_credentials`, {
      method: 'OPTIONS',
      headers: {
        origin: from,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    })

  it('are not allowed by default', async () => {
    const { authUrl } = await testService()
    const response = await preflight(authUrl)
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([405, null])
    const { headers } = await requestToken(authUrl)
    expect(headers.has('access-control-allow-origin')).toBe(false)
  })

  it('from the origins in the setting are allowed, without cookies, and others are not', async () => {
    const { authUrl } = await testService({ corsOrigins: [origin] })
    const { status, headers } = await preflight(authUrl)
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe(origin)
    expect(headers.get('access-control-allow-headers')).toContain('authorization')
    expect(headers.has('access-control-allow-credentials')).toBe(false)
    const other = await preflight(authUrl, 'https://evil.example.com')
    expect(other.headers.get('access-control-allow-origin')).not.toBe('https://evil.example.com')
    // Errors can be read too.
    const rejected = await fetch(`${authUrl}${tokenPath}`, { method: 'POST', headers: { origin } })
    expect([rejected.status, rejected.headers.get('access-control-allow-origin')]).toEqual([400, origin])
    const get = await fetch(`${authUrl}${tokenPath}`, { headers: { origin } })
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
  })

  it.each([[], [origin], ['*']].map((corsOrigins) => ({ corsOrigins })))(
    'from everywhere may read what is public: %o',
    async ({ corsOrigins }) => {
      const { authUrl } = await testService({ corsOrigins })
      for (const name of ['oauth-authorization-server', 'openid-configuration', 'jwks.json']) {
        const url = `${authUrl}/.well-known/${name}`
        const headers = { origin: 'https://anything.example.com' }
        const read = await fetch(url, { headers })
        expect([read.status, read.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
        for (const asked of [{}, { ...headers, 'access-control-request-method': 'GET' }]) {
          const options = await fetch(url, { method: 'OPTIONS', headers: asked })
          const allowed = ['origin', 'methods', 'headers'].map((each) =>
            options.headers.get(`access-control-allow-${each}`),
          )
          expect([options.status, ...allowed]).toEqual([204, '*', 'GET, HEAD', '*'])
        }
      }
    },
  )

  it('learn what they may send and read, and may come from everywhere if the setting is *', async () => {
    const { authUrl } = await testService({ corsOrigins: ['*'] })
    const { headers } = await preflight(authUrl, 'https://anything.example.com')
    const allowed = ['origin', 'methods', 'headers'].map((name) =>
      headers.get(`access-control-allow-${name}`),
    )
    expect(allowed).toEqual(['*', 'GET, POST', 'authorization, content-type, dpop'])
    expect(headers.get('access-control-max-age')).toBe('600')
    const rejected = await fetch(`${authUrl}${tokenPath}`, { method: 'POST', headers: { origin } })
    expect(rejected.headers.get('access-control-expose-headers')).toBe('retry-after, www-authenticate')
  })
})

describe('/', () => {
  it('leads people to the portal, and machines to the endpoints', async () => {
    const { authUrl } = await administeredService()
    const person = await fetch(authUrl, { redirect: 'manual', headers: { accept: 'text/html,*/*' } })
    expect([person.status, person.headers.get('location')]).toEqual([302, `${authUrl}/portal`])
    const machine = await fetch(authUrl, { headers: { accept: 'application/json' } })
    expect([person, machine].map(({ headers }) => headers.get('vary'))).toEqual(['accept', 'accept'])
    const links = (await machine.json()) as Record<string, string>
    expect(links['token_endpoint']).toBe(`${authUrl}${tokenPath}?grant_type=client_credentials`)
    expect(links['portal']).toBe(`${authUrl}/portal`)
    for (const name of ['metadata', 'openapi']) expect((await fetch(links[name] ?? '')).status).toBe(200)
    for (const name of ['introspection', 'revocation'])
      expect((await fetch(links[`${name}_endpoint`] ?? '')).status).toBe(405)
  })

  it('leads a client without an Accept header to the endpoints', async () => {
    const { authUrl } = await administeredService()
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(authUrl, resolve).on('error', reject)
    })
    expect(response.statusCode).toBe(200)
    expect(JSON.parse(await text(response))).toHaveProperty('token_endpoint')
  })

  it('has only links if there is no portal', async () => {
    const { authUrl } = await testService()
    const links = await (await fetch(authUrl, { headers: { accept: 'text/html' } })).json()
    expect(links).not.toHaveProperty('portal')
  })
})

describe('the response format rfc6749', () => {
  it('has only the fields of RFC 6749, for clients such as openid-client that reject an empty refresh token', async () => {
    const withForm = (responseForm: 'refresh' | 'rfc6749') => ({
      ...application,
      clientId: responseForm,
      responseForm,
    })
    const { authUrl } = await testService({ applications: [withForm('refresh'), withForm('rfc6749')] })
    const { body } = await requestToken(authUrl, withForm('rfc6749'))
    expect(body).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 3600 })

    const grant = async (clientId: string) => {
      const { clientSecret } = application
      const options = { algorithm: 'oauth2' as const, execute: [allowInsecureRequests] }
      const config = await discovery(new URL(authUrl), clientId, {}, ClientSecretPost(clientSecret), options)
      return clientCredentialsGrant(config)
    }
    expect((await grant('rfc6749')).expires_in).toBe(3600)
    await expect(grant('refresh')).rejects.toThrow()
  })
})

describe('the audit log', () => {
  it('contains requests with a wrong secret, without the secret', async () => {
    const { send, authUrl } = await administeredService({ applications: [application] })
    const { status } = await requestToken(authUrl, { ...application, clientSecret: 'canary' })
    expect(status).toBe(401)
    const log = async () => JSON.stringify((await send('GET', '/audit')).body)
    await expect.poll(log).toContain('invalid_client')
    expect(await log()).toContain(application.clientId)
    expect(await log()).not.toContain('canary')
  })

  it('contains credentials that were sent in a URL, without the credentials', async () => {
    const { send, authUrl } = await administeredService({ applications: [application] })
    const { status } = await fetch(`${authUrl}${tokenPath}?client_id=canary&client_secret=canary`, {
      method: 'POST',
    })
    expect(status).toBe(400)
    const log = async () => JSON.stringify((await send('GET', '/audit')).body)
    await expect.poll(log).toContain('credentials_in_query')
    expect(await log()).not.toContain('canary')
  })
})

describe("lists of the administrators' listener", () => {
  it('come in pages', async () => {
    const applications = Array.from({ length: 5 }, (_, at) => ({ ...application, clientId: `client ${at}` }))
    const { send } = await administeredService({ applications })
    const found: string[] = []
    let pages = 0
    for (let path: string | undefined = '/applications?limit=2'; path !== undefined;) {
      const { body, headers } = await send('GET', path)
      expect(body.length).toBeLessThanOrEqual(2)
      found.push(...body.map(({ clientId }: { clientId: string }) => clientId))
      path = /<(.+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
      pages++
    }
    expect(pages).toBe(3)
    expect(found).toEqual(applications.map(({ clientId }) => clientId))
    expect((await send('GET', '/applications?limit=0')).status).toBe(400)
    expect((await send('GET', '/audit?since=yesterday')).status).toBe(400)
    expect((await send('GET', '/audit?since=2099-01-01T00:00:00Z')).body).toBe('')
  })
})
