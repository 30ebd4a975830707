import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { serviceWithContext } from '../service-context.ts'
import { application, basic, postForm, testService, tokenPath } from '../test-service.ts'

// Requests with any other query go through Fastify.
const fast = `${tokenPath}?grant_type=client_credentials`
const withFastify = `${fast}&by=fastify`
const behindProxy = { trustProxy: 'loopback', publicUrl: 'https://auth.example.com' }

const credentials = { client_id: application.clientId, client_secret: application.clientSecret }
const cases: readonly [
  title: string,
  form: Record<string, string> | string,
  headers?: Record<string, string>,
][] = [
  ['a token', credentials],
  ['Basic', {}, basic(application)],
  ['a grant type in the form too', { ...credentials, grant_type: 'client_credentials' }],
  ['another grant type in the form', { ...credentials, grant_type: 'password' }],
  ['no secret', { client_id: 'x' }],
  ['an empty secret', { client_id: 'x', client_secret: '' }],
  ['a wrong secret', { ...credentials, client_secret: 'wrong' }],
  ['a repeated parameter', 'client_id=a&client_id=b&client_secret=c'],
  ['two kinds of credentials', credentials, basic(application)],
  ['malformed Basic', {}, { authorization: 'Basic %' }],
  ['a body that is too large', { ...credentials, more: 'x'.repeat(20_000) }],
  ['an invalid percent escape', 'client_id=%zz&client_secret=%'],
]

describe.each(['classic', 'rfc6749'] as const)('the fast route (errors: %s)', (errors) => {
  it.each(cases)('responds like the endpoint behind it: %s', async (_title, form, headers) => {
    const clock = { now: () => 1_700_000_000_000 }
    const responses = []
    for (const path of [fast, withFastify]) {
      const { authUrl } = await testService({ errors, clock })
      const url = authUrl + path
      const type = { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' }
      const response = await postForm(url, form, { ...type, ...headers })
      const { access_token: token, ...body } = response.body
      const { date: _date, 'content-length': _length, ...others } = Object.fromEntries(response.headers)
      responses.push({ status: response.status, headers: others, body, hasToken: token !== undefined })
    }
    expect(responses[0]).toEqual(responses[1])
  })
})

describe('the fast route', () => {
  it('limits failed attempts, counts and logs requests like the endpoint behind it', async () => {
    const service = await testService({ metrics: true })
    const url = `${service.authUrl}${tokenPath}?grant_type=client_credentials`
    const wrong = { ...credentials, client_secret: 'wrong' }
    for (let attempt = 0; attempt < 10; attempt += 1) expect((await postForm(url, wrong)).status).toBe(401)
    const limited = await postForm(url, wrong)
    expect([limited.status, limited.headers.has('retry-after')]).toEqual([429, true])
    expect((await postForm(url, credentials)).status).toBe(200)
    const metrics = await (await fetch(`${service.authUrl}/metrics`)).text()
    expect(metrics).toContain(`seconds_count{path="${tokenPath}",status="401"} 10`)
    expect(metrics).toContain(`seconds_count{path="${tokenPath}",status="200"} 1`)
    expect(metrics).toContain(`rejected_requests_total{path="${tokenPath}",reason="too_many_failures"} 1`)
  })

  it.each([fast, withFastify])('uses the address that a trusted proxy reports: %s', async (path) => {
    const { authUrl } = await testService({ ...behindProxy, failureLimit: { attempts: 2 } })
    const url = authUrl + path
    const wrong = { ...credentials, client_secret: 'wrong' }
    const statuses = []
    for (const address of ['10.0.0.1, 192.0.2.1', '10.0.0.2, 192.0.2.1', '192.0.2.1', '192.0.2.2', 'x']) {
      statuses.push((await postForm(url, wrong, { 'x-forwarded-for': address })).status)
    }
    expect(statuses).toEqual([401, 401, 429, 401, 401])
  })

  it.each([fast, withFastify])('records rejected requests for the developers: %s', async (path) => {
    const { authUrl, context } = await serviceWithContext()
    await fetch(`${authUrl}/healthz`)
    const { activity, storage } = context
    await postForm(authUrl + path, { ...credentials, client_secret: 'wrong' })
    await activity.flush()
    expect(await storage.activity.requests(application.clientId, 9)).toMatchObject([
      { outcome: 'invalid_client', count: 1 },
    ])
  })

  it('leaves requests of pages to the endpoint with CORS', async () => {
    const { authUrl } = await testService({ corsOrigins: ['https://tools.example.com'] })
    const url = `${authUrl}${tokenPath}?grant_type=client_credentials`
    const { headers } = await postForm(url, credentials, { origin: 'https://tools.example.com' })
    expect(headers.get('access-control-allow-origin')).toBe('https://tools.example.com')
    expect((await postForm(url, credentials)).status).toBe(200)
  })

  it('survives clients that hang up in the middle of a request', async () => {
    const { authUrl } = await testService()
    const { port, hostname } = new URL(authUrl)
    for (const body of ['', 'client_id=a', 'client_id=a&client_secret=b']) {
      const socket = connect(Number(port), hostname)
      const head = `POST ${tokenPath}?grant_type=client_credentials HTTP/1.1\r\nHost: ${hostname}:${port}\r\n`
      const type = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 27\r\n\r\n'
      await new Promise<void>((resolve) => socket.write(head + type + body, () => resolve()))
      socket.destroy()
    }
    const url = `${authUrl}${tokenPath}?grant_type=client_credentials`
    expect((await postForm(url, credentials)).status).toBe(200)
  })
})
