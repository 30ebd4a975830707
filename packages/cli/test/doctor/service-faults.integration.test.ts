import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useSandboxedService } from '../sandboxed-service.ts'
import { examined } from './run-doctor.ts'

const service = useSandboxedService()
const doctor = (clientId = 'demo', args: string[] = [], env: Record<string, string> = {}) =>
  examined(args, { ...service.environmentOf(clientId), ...env })

const token = { access_token: 'canary-token', token_type: 'Bearer', expires_in: '3600' }
const noStore = { 'cache-control': 'no-store' }

describe('doctor and the token endpoint', () => {
  it.each(['demo', 'refreshed'])('finds no problems with the application %s', async (clientId) => {
    const { findings, faults } = await doctor(clientId)
    expect(faults).toStrictEqual([])
    expect(findings.map(({ code }) => code).filter((code) => code !== 'slow')).toStrictEqual([
      'chosen',
      'plain_http_loopback',
      'connected',
      'token',
      'no_store',
      'lifetime',
      'cached',
      'clocks_agree',
      'issued_at',
      'not_tried',
    ])
  })

  it('reports the format of the response, its units and how long the token is cached', async () => {
    const { textOf } = await doctor()
    expect(textOf('token')).toContain("the platform's format with products")
    expect(textOf('lifetime')).toContain('3600 seconds, as a string: 1 h')
    expect(textOf('cached')).toContain('for 59 min 50 s, and refresh it in the background after about 55 min')
    expect(textOf('issued_at')).toContain('in milliseconds since 1970')
    expect((await doctor('refreshed')).textOf('token')).toContain('format with level and refresh token')
  })

  it('reports variables whose name is misspelt, while the right one is not set', async () => {
    const { faults, textOf } = await doctor('demo', [], {
      TOKEN_CACHE_KYE: 'canary',
      CLIENT_IDS: 'of another program',
    })
    expect(faults).toStrictEqual(['variable_not_read'])
    expect(textOf('variable_not_read')).toBe(
      'TOKEN_CACHE_KYE is set, but not read. If it is meant for tokenwell, name it TOKEN_CACHE_KEY.',
    )
  })

  it('sends nobody to a developer portal whose token service is not the platform', async () => {
    const { AUTH_URL: authUrl, ...credentials } = service.environmentOf('pending')
    const path = '/oauth/client_credential/accesstoken?grant_type=client_credentials'
    const env = { ...credentials, TOKEN_ENDPOINT: `${authUrl}${path}` }
    const { textOf } = await examined([], env)
    expect(textOf('application_not_approved')).not.toContain('portal')
    const wrong = await examined([], { ...env, CLIENT_ID: 'demo', CLIENT_SECRET: 'canary-wrong' })
    expect(wrong.textOf('invalid_credentials')).toMatch(/from the token service's settings/)
  })

  it('reports a wrong secret', async () => {
    const { faults, textOf } = await doctor('demo', [], { CLIENT_SECRET: 'canary-wrong' })
    expect(faults).toStrictEqual(['invalid_credentials'])
    expect(textOf('invalid_credentials')).toMatch(/status 401, invalid_client.*developer portal/)
  })

  it('reports an application that is not approved', async () => {
    expect((await doctor('pending')).faults).toStrictEqual(['application_not_approved'])
  })

  it('reports an expired secret', async () => {
    expect((await doctor('expired')).faults).toStrictEqual(['secret_expired'])
  })

  it.each([
    ['secret_expired', 'The client secret has expired.'],
    ['secret_expired', 'Expired client_secret'],
    ['secret_expired', 'credential has expired'],
    ['secret_expired', 'invalid_client: KeyExpired'],
    ['application_not_approved', 'App is not approved'],
    ['application_not_approved', 'the client is NotActive'],
    ['application_not_approved', 'revoked'],
    ['invalid_credentials', 'expired'],
    ['unknown_client', 'Unknown client.'],
    ['unknown_client', 'unknown client "orders"'],
    [
      'invalid_credentials',
      'Client authentication failed (e.g., unknown client, no client authentication included, or unsupported authentication method).',
    ],
    ['invalid_credentials', 'Unknown client or wrong secret'],
  ])('recognises %s by a phrase of the service: %s', async (code, error_description) => {
    await service.fault({ status: 401, body: { error: 'invalid_client', error_description } })
    expect((await doctor()).faults).toStrictEqual([code])
  })

  it('says that a client ID is unknown, also where the service calls it not authorized', async () => {
    const error_description =
      "AADSTS700016: Application with identifier 'a' was not found in the directory 'b'."
    await service.fault({ status: 400, body: { error: 'unauthorized_client', error_description } })
    const { faults, textOf } = await doctor()
    expect(faults).toStrictEqual(['unknown_client'])
    expect(textOf('unknown_client')).toContain('Check CLIENT_ID, and the tenant')
  })

  it.each([401, { error: 'invalid_token' }])(
    'recognises an API in place of a token endpoint: %j',
    async (body) => {
      const headers = { 'www-authenticate': 'Bearer realm="orders"' }
      await service.fault({ status: 401, headers, body })
      const { faults, textOf } = await doctor()
      expect(faults).toStrictEqual(['wrong_path'])
      expect(textOf('wrong_path')).toContain('it expects a Bearer token, as an API does')
    },
  )

  it.each(['', '<h1>401 Authorization Required</h1>'])(
    'recognises a web server with a log-in: %j',
    async (body) => {
      await service.fault({ status: 401, headers: { 'www-authenticate': 'Basic realm="staging"' }, body })
      const { faults, textOf } = await doctor()
      expect(faults).toStrictEqual(['wrong_path'])
      expect(textOf('wrong_path')).toContain('(status 401 without an OAuth error)')
      expect(textOf('wrong_path')).toContain('AUTH_URL')
    },
  )

  it('believes an error of the client beside the challenge of an API', async () => {
    const headers = { 'www-authenticate': 'Bearer error="invalid_client"' }
    await service.fault({ status: 401, headers, body: { error: 'invalid_client' } })
    expect((await doctor()).faults).toStrictEqual(['invalid_credentials'])
  })

  it('names --scope where the endpoint may miss it', async () => {
    const { AUTH_URL: _, ...env } = service.environmentOf('demo')
    const examine = async (args: string[]) => {
      await service.fault({ status: 400, body: { error: 'invalid_request', error_description: 'scope?' } })
      const endpoint = `${service.authUrl}/oauth/client_credential/accesstoken?grant_type=client_credentials`
      return (await examined(['--token-endpoint', endpoint, ...args], env)).textOf('request_rejected')
    }
    expect(await examine([])).toContain('Some endpoints require --scope, --audience,')
    expect(await examine(['--scope', 'a'])).toContain('Some endpoints require --audience,')
  })

  it('finds the token endpoint of an issuer, and how it expects the secret', async () => {
    const { AUTH_URL: ISSUER, ...env } = service.environmentOf('demo')
    const { faults, textOf } = await examined([], { ...env, ISSUER })
    expect(faults).toStrictEqual([])
    expect(textOf('metadata_found')).toContain(`${ISSUER}/oauth/client_credential/accesstoken`)
    const wrong = await examined(['--issuer', `${ISSUER}/`], env)
    expect(wrong.faults).toStrictEqual(['metadata_not_found'])
    expect(wrong.textOf('metadata_not_found')).toMatch(/has the issuer .*exactly as its metadata does/)
  })

  it('sends the secret in a header to an issuer that accepts nothing else', async () => {
    const server = createServer((request, response) => {
      const issuer = `http://${request.headers.host}`
      const isMetadata = request.method === 'GET'
      if (!isMetadata && !request.headers.authorization?.startsWith('Basic ')) response.statusCode = 401
      response.setHeaders(
        new Map([
          ['cache-control', 'no-store'],
          ['content-type', 'application/json'],
        ]),
      )
      response.end(JSON.stringify(isMetadata ? { issuer, token_endpoint: `${issuer}/token` } : token))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const { AUTH_URL: _, ...env } = service.environmentOf('demo')
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    expect((await examined(['--issuer', issuer], env)).faults).toStrictEqual([])
  })

  it("quotes the service's own reason, without the secret in it", async () => {
    const error_description =
      "AADSTS7000222: The client secret keys for app 'demo' are expired.\r\nTrace: SECRET"
    const secret = service.environmentOf('demo')['CLIENT_SECRET']!
    await service.fault({
      status: 401,
      body: { error: 'invalid_client', error_description: error_description.replace('SECRET', secret) },
    })
    const { faults, textOf } = await doctor()
    expect(faults).toStrictEqual(['secret_expired'])
    expect(textOf('secret_expired')).toMatch(
      /\(status 401, invalid_client, "AADSTS7000222: The client secret keys for app 'demo' are expired\. Trace: \S*"\)/,
    )
  })

  it('reports rate limiting and its duration', async () => {
    for (let attempt = 0; attempt < 10; attempt++) {
      await doctor('demo', [], { CLIENT_SECRET: 'canary-wrong' })
    }
    const { faults, textOf } = await doctor('demo', [], { CLIENT_SECRET: 'canary-wrong' })
    expect(faults).toStrictEqual(['throttled'])
    expect(textOf('throttled')).toMatch(/status 429, Retry-After: (?:1 min|\d\d s)\)\./)
  })

  it.each([500, 502, 503])('reports a failing service: %i', async (status) => {
    await service.fault({ status, body: { fault: { faultstring: 'canary', detail: { errorcode: 'x.y' } } } })
    const { faults, textOf } = await doctor()
    expect(faults).toStrictEqual(['server_error'])
    expect(textOf('server_error')).toContain(`status ${status}, x.y`)
  })

  it('reports a slow response', async () => {
    await service.fault({ latencyMs: 1050 })
    const { faults, textOf } = await doctor()
    expect(faults).toStrictEqual([])
    expect(textOf('slow')).toMatch(/The response took \d.*in the background/)
  })

  it('reports a missing response', async () => {
    await service.fault({ latencyMs: 30_000 })
    const { faults, textOf } = await doctor('demo', ['--timeout', '2'])
    expect(faults).toStrictEqual(['no_response'])
    expect(textOf('no_response')).toMatch(/did not respond within \d/)
  })

  it('reports a dropped connection', async () => {
    await service.fault({ drop: true })
    expect((await doctor()).faults).toStrictEqual(['connection_dropped'])
  })

  it('reports a truncated response', async () => {
    await service.fault({ truncateAfterBytes: 20 })
    const { faults, textOf } = await doctor()
    expect(faults).toStrictEqual(['response_truncated'])
    expect(textOf('response_truncated')).toContain('20 characters received')
  })

  it('reports half a JSON object', async () => {
    await service.fault({ status: 200, body: '{"access_token": "canary' })
    expect((await doctor()).faults).toStrictEqual(['broken_json'])
  })

  it.each([200, 204])('reports an empty response: %i', async (status) => {
    await service.fault({ status, body: '' })
    expect((await doctor()).faults).toStrictEqual(['response_empty'])
  })

  it.each([
    [200, 'text/html', '<!doctype html>canary'],
    [403, 'text/html', 'canary'],
    [400, 'text/plain', ' <HTML>canary'],
  ])('reports a web page instead of a token: %i, %s', async (status, type, body) => {
    await service.fault({ status, headers: { 'content-type': type }, body })
    expect((await doctor()).faults).toStrictEqual(['html_instead_of_json'])
  })

  it('reports a redirect and its target', async () => {
    const location = 'https://login.example.com/start?secret=canary-secret-0123456789'
    await service.fault({ status: 302, headers: { location } })
    const { faults, textOf } = await doctor()
    expect(faults).toStrictEqual(['redirected'])
    expect(textOf('redirected')).toContain(
      'redirected the request to https://login.example.com/start (status 302). The redirect was not followed.',
    )
    expect(textOf('redirected')).toContain('Use https:// in the URL.')
  })

  it('reports a redirect without a target', async () => {
    await service.fault({ status: 303 })
    const { faults, textOf } = await doctor()
    expect(faults).toStrictEqual(['redirected'])
    expect(textOf('redirected')).toContain('redirected the request (status 303).')
    expect(textOf('redirected')).toContain('pass its new URL')
  })

  it('reports a wrong path', async () => {
    const env = { AUTH_URL: `${service.authUrl}/oauth` }
    const { faults, textOf } = await doctor('demo', [], env)
    expect(faults).toStrictEqual(['wrong_path'])
    expect(textOf('wrong_path')).toContain('/oauth/oauth/client_credential/accesstoken (status 404)')
  })

  it('reports a request in the wrong format', async () => {
    const tokenEndpoint = `${service.authUrl}/oauth/client_credential/accesstoken`
    const { faults, textOf } = await doctor('demo', ['--token-endpoint', tokenEndpoint])
    expect(faults).toStrictEqual(['platform_path', 'request_rejected'])
    expect(textOf('platform_path')).toContain(`Pass --auth-url ${service.authUrl} instead`)
    expect(textOf('request_rejected')).toContain('status 400, invalid_request')
  })

  it('reports a rejected scope', async () => {
    await service.fault({ status: 400, body: { error: 'invalid_scope' } })
    expect((await doctor()).faults).toStrictEqual(['scope_rejected'])
  })

  it('expects no scope if none is requested', async () => {
    await service.fault({ body: { ...token, scope: 'read' }, headers: noStore })
    expect((await doctor()).faults).toStrictEqual([])
  })

  it('takes a response without a scope as all that was requested', async () => {
    await service.fault({ body: token, headers: noStore })
    expect((await doctor('demo', ['--scope', 'read write'])).faults).toStrictEqual([])
  })

  it('reports a scope that is not granted', async () => {
    await service.fault({ body: { ...token, scope: 'read' }, headers: noStore })
    const { faults, textOf } = await doctor('demo', ['--scope', 'read write'])
    expect(faults).toStrictEqual(['scope_narrowed'])
    expect(textOf('scope_narrowed')).toContain('requested scopes: write.')
    await service.fault({ body: { ...token, scope: 'read' }, headers: noStore })
    const none = await doctor('demo', ['--scope', 'write', '--scope', 'delete'])
    expect(none.textOf('scope_narrowed')).toContain('requested scopes: write, delete.')
  })

  it('reports a token of another type', async () => {
    await service.fault({ body: { ...token, token_type: 'mac' } })
    const { faults, textOf } = await doctor()
    expect(faults).toStrictEqual(['invalid_token_response'])
    expect(textOf('invalid_token_response')).toContain('unsupported token_type')
  })

  it('reports a missing lifetime and the assumed one', async () => {
    const { expires_in: _left, ...rest } = token
    await service.fault({ body: rest, headers: noStore })
    const { faults, textOf } = await doctor()
    expect(faults).toStrictEqual(['lifetime_missing'])
    expect(textOf('lifetime_missing')).toContain('a lifetime of 5 min is assumed')
    expect(textOf('lifetime_missing')).toContain('The service should send it (RFC 6749')
    expect(textOf('cached')).toContain('for 4 min 50 s')
  })

  it('reports a lifetime in milliseconds, unless --expires-in says so', async () => {
    const { faults, textOf } = await doctor('long-lived')
    expect(faults).toStrictEqual(['lifetime_in_milliseconds'])
    expect(textOf('lifetime_in_milliseconds')).toContain(
      '41 days 16 h if the unit is seconds, 1 h if it is milliseconds',
    )
    const expected = await doctor('long-lived', ['--expires-in', 'milliseconds'])
    expect(expected.faults).toStrictEqual([])
    expect(expected.textOf('lifetime')).toContain('3600000 milliseconds, as a string: 1 h')
  })

  it('reports a lifetime in seconds with --expires-in milliseconds', async () => {
    const { faults } = await doctor('demo', ['--expires-in', 'milliseconds'])
    expect(faults).toStrictEqual(['lifetime_in_seconds'])
  })

  it.each([
    [60_000, 'seconds', '60000 seconds, as a number: 16 h 40 min.'],
    [86_460, 'seconds', '86460 seconds, as a number: 1 day 1 min.'],
    [30_000, 'milliseconds', '30000 milliseconds, as a number: 30 s.'],
  ])('accepts a lifetime of %i %s', async (lifetime, unit, text) => {
    await service.fault({ body: { ...token, expires_in: lifetime }, headers: noStore })
    const { faults, textOf } = await doctor('demo', ['--expires-in', unit])
    expect(faults).toStrictEqual([])
    expect(textOf('lifetime')).toContain(text)
  })

  it.each([
    ['lifetime_expired', 0, 'valid for longer'],
    ['lifetime_expired', '-60', 'valid for longer'],
    ['lifetime_invalid', 'canary', 'should send the lifetime in seconds, as a number'],
    ['lifetime_is_a_date', 1_893_456_000, 'should send the lifetime in seconds'],
    ['lifetime_is_a_date', '1893456000000', 'should send the lifetime in seconds'],
    ['lifetime_too_long', 99_999_999, 'with a shorter lifetime'],
  ])('reports an implausible lifetime: %s, %j', async (code, lifetime, advice) => {
    await service.fault({ body: { ...token, expires_in: lifetime }, headers: noStore })
    const { faults, textOf } = await doctor()
    expect(faults).toStrictEqual([code])
    expect(textOf(code)).toContain(advice)
    expect(textOf(code)).not.toContain('canary')
  })

  it.each([
    [3600, 'behind'],
    [-120, 'ahead of'],
  ])('reports a clock of this machine that differs by %i s', async (seconds, side) => {
    const date = new Date(Date.now() + seconds * 1000).toUTCString()
    await service.fault({ body: token, headers: { ...noStore, date } })
    const { faults, textOf } = await doctor()
    expect(faults).toStrictEqual(['clock_skew'])
    expect(textOf('clock_skew')).toContain(`${side} the service's`)
  })

  it('reports an issued_at that is not the current time', async () => {
    // The Date header of the sandbox follows its clock.
    await service.advance(7200)
    const { faults, textOf } = await doctor()
    expect(faults).toStrictEqual(['clock_skew', 'issued_at_differs'])
    expect(textOf('issued_at_differs')).toMatch(/(?:2 h|1 h 59 min) ahead of/)
  })

  it.each([
    ['seconds', 1e3],
    ['milliseconds', 1],
    ['microseconds', 1e-3],
  ])('recognises an issued_at in %s', async (unit, milliseconds) => {
    const issued_at = Math.round(Date.now() / milliseconds)
    await service.fault({ body: { ...token, issued_at }, headers: noStore })
    expect((await doctor()).textOf('issued_at')).toContain(`the current time, in ${unit} since 1970.`)
  })

  it.each([
    ['max-age=60', 'max-age=60'],
    ['', 'missing'],
  ])('reports a missing no-store: "%s"', async (header, described) => {
    await service.fault({ body: token, headers: { 'cache-control': header } })
    const { faults, textOf } = await doctor()
    expect(faults).toStrictEqual(['no_store_missing'])
    expect(textOf('no_store_missing')).toContain(`Cache-Control: ${described})`)
  })

  it('reports a content type other than JSON', async () => {
    await service.fault({ body: JSON.stringify(token), headers: noStore })
    expect((await doctor()).faults).toStrictEqual(['content_type'])
  })
})

describe('doctor --try-wrong-secret', () => {
  const tried = () => doctor('demo', ['--try-wrong-secret'])

  it('tries a wrong secret once, and only with the flag', async () => {
    await doctor()
    expect((await service.journal()).total).toBe(1)
    const { faults, textOf } = await tried()
    expect(faults).toStrictEqual([])
    expect(textOf('recognised')).toContain('status 401, invalid_client')
    expect((await service.journal()).counts.client).toStrictEqual({ demo: 3 })
  })

  it.each([
    ['any_secret_accepted', { body: token, headers: noStore }],
    ['not_recognised', { status: 500 }],
    ['throttled', { status: 429 }],
  ])('reports a wrong response to it: %s', async (code, second) => {
    await service.fault({ body: token, headers: noStore })
    await service.fault(second)
    expect((await tried()).faults).toStrictEqual([code])
  })
})
