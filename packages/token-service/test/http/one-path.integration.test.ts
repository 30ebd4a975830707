import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTokenService } from '@tokenwell/token-service'
import { temporaryFolder } from '../service-process.ts'
import {
  serviceWithContext,
  application,
  postForm,
  requestToken,
  testService,
  tokenPath,
} from '../test-service.ts'

const url = `${tokenPath}?grant_type=client_credentials`
const credentials = { client_id: application.clientId, client_secret: application.clientSecret }

describe('a token request', () => {
  it.each([
    ['the usual one', url, {}],
    ['with another parameter', `${url}&x=1`, {}],
    ['of a page', url, { origin: 'https://tools.example.com' }],
  ])('passes the hooks of an embedding application: %s', async (_title, path, headers) => {
    const server = createTokenService({ applications: [application] })
    onTestFinished(() => server.close())
    let calls = 0
    server.addHook('onRequest', async (_request, reply) => {
      calls += 1
      await reply.code(403).send({ error: 'denied' })
    })
    const authUrl = await server.listen({ port: 0, host: '127.0.0.1' })
    expect((await postForm(authUrl + path, credentials, headers)).status).toBe(403)
    expect(calls).toBe(1)
  })

  it('passes a route and its hooks that the embedding application adds for another path', async () => {
    const server = createTokenService({ applications: [application] })
    onTestFinished(() => server.close())
    const schema = { response: { 200: { type: 'object', properties: { ok: { type: 'boolean' } } } } } as const
    server.get('/own', { schema }, () => ({ ok: true, hidden: 'x' }))
    const authUrl = await server.listen({ port: 0, host: '127.0.0.1' })
    expect(await (await fetch(`${authUrl}/own`)).json()).toEqual({ ok: true })
    expect((await requestToken(authUrl)).status).toBe(200)
  })

  it.each(['memory', 'sqlite'])('gets its response on a half-closed connection: %s', async (kind) => {
    const storage = kind === 'memory' ? kind : `sqlite:${join(temporaryFolder(), 'data.db')}`
    const service = await testService({
      storage,
      applications: [{ ...application, clientSecret: 'demo-secret-0123456789-0123456789' }],
      resourceServers: [],
    })
    const { port, hostname } = new URL(service.authUrl)
    const body = `client_id=${application.clientId}&client_secret=demo-secret-0123456789-0123456789`
    const head = `POST ${url} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n`
    const type = `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n`
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    let received = ''
    socket.setEncoding('utf8').on('data', (text: string) => (received += text))
    socket.end(head + type + body)
    await once(socket, 'close')
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*"access_token"/)
  })

  it('survives clients that hang up in the middle', async () => {
    const { authUrl } = await testService()
    const { port, hostname } = new URL(authUrl)
    for (const body of ['', 'client_id=a', 'client_id=a&client_secret=b']) {
      const socket = connect(Number(port), hostname)
      const head = `POST ${url} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n`
      const type = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 27\r\n\r\n'
      await new Promise<void>((resolve) => socket.write(head + type + body, () => resolve()))
      socket.destroy()
    }
    expect((await requestToken(authUrl)).status).toBe(200)
  })

  it('is limited, counted and logged', async () => {
    const { authUrl } = await testService({ metrics: true })
    const wrong = { ...credentials, client_secret: 'wrong' }
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect((await postForm(authUrl + url, wrong)).status).toBe(401)
    const limited = await postForm(authUrl + url, wrong)
    expect([limited.status, limited.headers.has('retry-after')]).toEqual([429, true])
    expect((await requestToken(authUrl)).status).toBe(200)
    const metrics = await (await fetch(`${authUrl}/metrics`)).text()
    expect(metrics).toContain(`seconds_count{path="${tokenPath}",status="401"} 10`)
    expect(metrics).toContain(`seconds_count{path="${tokenPath}",status="200"} 1`)
    expect(metrics).toContain(`rejected_requests_total{path="${tokenPath}",reason="too_many_failures"} 1`)
  })

  it('is counted under the address that a trusted proxy reports', async () => {
    const behindProxy = { trustProxy: 'loopback', publicUrl: 'https://auth.example.com' }
    const { authUrl } = await testService({ ...behindProxy, failureAttempts: 2 })
    const wrong = { ...credentials, client_secret: 'wrong' }
    const statuses = []
    for (const address of ['10.0.0.1, 192.0.2.1', '10.0.0.2, 192.0.2.1', '192.0.2.1', '192.0.2.2', 'x'])
      statuses.push((await postForm(authUrl + url, wrong, { 'x-forwarded-for': address })).status)
    expect(statuses).toEqual([401, 401, 429, 401, 401])
  })

  it('is recorded for the developers if it is rejected', async () => {
    const { authUrl, context } = await serviceWithContext()
    await postForm(authUrl + url, { ...credentials, client_secret: 'wrong' })
    await context.activity.flush()
    expect(await context.storage.activity.requests(application.clientId, 9)).toMatchObject([
      { outcome: 'invalid_client', count: 1 },
    ])
  })

  it('of a page gets CORS headers', async () => {
    const origin = 'https://tools.example.com'
    const { authUrl } = await testService({ corsOrigins: [origin] })
    const { headers } = await postForm(authUrl + url, credentials, { origin })
    expect(headers.get('access-control-allow-origin')).toBe(origin)
  })
})
