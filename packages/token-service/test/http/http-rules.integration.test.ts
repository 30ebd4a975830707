import { once } from 'node:events'
import { connect } from 'node:net'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { application, postForm, testService, tokenPath } from '../test-service.ts'

const formType = { 'content-type': 'application/x-www-form-urlencoded' }

/** Sends raw bytes and returns everything that the server sends until it closes the connection. */
function raw(authUrl: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(authUrl)
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.on('data', (chunk) => (received += chunk.toString()))
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
  })
}

describe('every endpoint', () => {
  it.each([tokenPath, '/oauth/introspect', '/oauth/revoke'])('at %s accepts POST only', async (path) => {
    const { authUrl } = await testService()
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const response = await fetch(`${authUrl}${path}?grant_type=client_credentials`, { method })
      expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST'])
      await response.arrayBuffer()
    }
  })

  it.each([
    ['https://auth.example.com', 'max-age=31536000'],
    ['http://localhost:8080', null],
    [undefined, null],
  ])('with the public URL %s, requires https of browsers: %s', async (publicUrl, expected) => {
    const { authUrl } = await testService({ publicUrl, portal: true })
    for (const path of ['/healthz', '/portal/log-in', '/unknown', tokenPath]) {
      const { headers } = await fetch(authUrl + path)
      expect([path, headers.get('strict-transport-security')]).toEqual([path, expected])
    }
  })

  it.each([tokenPath, '/oauth/introspect', '/oauth/revoke'])(
    'at %s rejects credentials and tokens in the URL',
    async (path) => {
      const { authUrl } = await testService()
      for (const name of ['client_id', 'client_secret', 'token', 'access_token']) {
        const url = `${authUrl}${path}?grant_type=client_credentials&${name}=canary`
        const { status, body } = await postForm(url, { token: 'x', client_id: 'x', client_secret: 'x' })
        expect(status).toBe(400)
        expect(JSON.stringify(body)).toMatch(/not in the URL/)
        expect(JSON.stringify(body)).not.toMatch(/canary/)
      }
    },
  )

  it('responds to an unknown path in the configured format', async () => {
    const platform = await testService()
    const standard = await testService({ format: 'standard' })
    const inPlatform = await postForm(`${platform.authUrl}/oauth/canary`, {})
    const inStandard = await postForm(`${standard.authUrl}/oauth/canary`, {})
    expect([inPlatform.status, inStandard.status]).toEqual([404, 404])
    expect(inPlatform.body.fault.detail.errorcode).toBe('messaging.adaptors.http.flow.ApplicationNotFound')
    expect(inStandard.body.error).toBe('invalid_request')
    expect(JSON.stringify([inPlatform.body, inStandard.body])).not.toMatch(/canary/)
  })

  it('rejects a large body, with or without Content-Length', async () => {
    const { authUrl } = await testService()
    const url = `${authUrl}${tokenPath}?grant_type=client_credentials`
    const large = `client_id=${'x'.repeat(33_000)}`
    expect((await postForm(url, large)).status).toBe(413)
    const body = new Blob([large]).stream()
    const chunked = await fetch(url, {
      method: 'POST',
      body,
      duplex: 'half',
      headers: formType,
    } as RequestInit)
    expect(chunked.status).toBe(413)
  })

  it.each(['end', 'destroy'] as const)(
    'logs no failure when a client hangs up in mid-body: %s',
    async (hangUp) => {
      const lines: string[] = []
      const logger = pino({ level: 'trace' }, { write: (line) => void lines.push(line) })
      const service = await testService({ logger })
      const { hostname, port } = new URL(service.authUrl)
      const respondsToOthers = () => postForm(`${service.authUrl}${tokenPath}?by=fastify`, {})
      await respondsToOthers()
      const head = `POST ${tokenPath}?by=fastify HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 99\r\n`
      const type = 'Content-Type: application/x-www-form-urlencoded\r\n\r\n'
      const socket = connect(Number(port), hostname, () => socket.write(`${head}${type}client_id=`))
      // It reads the body now.
      await once(socket, 'data')
      socket[hangUp]()
      await once(socket, 'close')
      await respondsToOthers()
      await service.close()
      expect(lines.join('')).not.toMatch(/"level":50|"status":5/)
    },
  )

  it('rejects large headers', async () => {
    const { authUrl } = await testService()
    const response = await raw(
      authUrl,
      `POST ${tokenPath} HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(10_000)}\r\n\r\n`,
    )
    expect(response).toMatch(/^HTTP\/1\.1 431 /)
    expect(response).toMatch(/"errorcode":"protocol.http.TooBigHeaders"/)
    expect(response).toMatch(/\r\nCache-Control: no-store\r\n/)
  })

  it('responds to malformed HTTP with 400 in the configured format, and closes the connection', async () => {
    const { authUrl } = await testService({ format: 'standard' })
    for (const bytes of [
      '\0\0\0\r\n\r\n',
      'POST / HTTP/9.9\r\n\r\n',
      'GET / HTTP/1.1\r\nbad header\r\n\r\n',
      '{"a":1}\r\n\r\n',
    ]) {
      const response = await raw(authUrl, bytes)
      expect(response).toMatch(/^HTTP\/1\.1 400 /)
      expect(response).toMatch(/\r\nContent-Type: application\/json; charset=utf-8\r\n/)
      expect(response).toMatch(/{"error":"invalid_request"/)
    }
  })

  it.each([
    ['in the same letters', 'Host: localhost\r\nHost: localhost\r\n'],
    ['in other letters', 'host: localhost\r\nHOST: other.example.com\r\n'],
  ])('rejects a request with two Host headers, %s', async (_title, hosts) => {
    const { authUrl } = await testService()
    for (const path of [tokenPath, '/healthz', '/unknown']) {
      const response = await raw(authUrl, `GET ${path} HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`)
      expect(response).toMatch(/^HTTP\/1\.1 400 /)
    }
  })

  it.each(['gzip', 'br', 'unknown', 'identity, gzip'])(
    'rejects a body with the content encoding %s, and names what it accepts',
    async (encoding) => {
      const { authUrl } = await testService()
      const url = `${authUrl}${tokenPath}?grant_type=client_credentials`
      const { status, headers } = await postForm(url, 'client_id=a', { 'content-encoding': encoding })
      expect([status, headers.get('accept-encoding')]).toEqual([415, 'identity'])
    },
  )

  it('accepts the content encoding identity', async () => {
    const { authUrl } = await testService()
    const url = `${authUrl}${tokenPath}?grant_type=client_credentials`
    const form = { client_id: application.clientId, client_secret: application.clientSecret }
    expect((await postForm(url, form, { 'content-encoding': 'Identity' })).status).toBe(200)
  })

  it('rejects an invalid path without repeating it', async () => {
    const { authUrl } = await testService()
    const response = await raw(authUrl, 'GET /%canary HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    expect(response).toMatch(/^HTTP\/1\.1 400 /)
    expect(response).not.toMatch(/canary/)
  })
})

describe('parameters', () => {
  const url = `${tokenPath}?grant_type=client_credentials`

  it.each([
    ['a NUL in client_id', 'client_id=a%00b&client_secret=x', 'malformed : client_id'],
    ['a line break in client_secret', 'client_id=a&client_secret=x%0d%0ay', 'malformed : client_secret'],
    ['letters beyond ASCII', 'client_id=%C3%A9&client_secret=x', 'malformed : client_id'],
    ['an endless client_id', `client_id=${'x'.repeat(513)}&client_secret=x`, 'malformed : client_id'],
    ['broken percent signs', 'client_id=%zz%&client_secret=%', undefined],
    [
      'prototype names',
      '__proto__=x&constructor=y&client_secret=z',
      'missing a required parameter : client_id',
    ],
    ['a repeated client_secret', 'client_id=a&client_secret=x&client_secret=x', 'repeated : client_secret'],
    [
      'a repeated grant_type',
      'client_id=a&client_secret=x&grant_type=client_credentials&grant_type=client_credentials',
      'repeated : grant_type',
    ],
  ])('with %s are rejected by name', async (_case, form, message) => {
    const { authUrl } = await testService()
    const { status, body } = await postForm(authUrl + url, form)
    expect(status).toBe(message === undefined ? 401 : 400)
    if (message !== undefined) expect(body.Error).toContain(message)
  })

  it('are ignored if unknown, and treated as omitted if empty', async () => {
    const { authUrl } = await testService()
    const good = `client_id=${application.clientId}&client_secret=${application.clientSecret}`
    expect((await postForm(authUrl + url, `${good}&scope=a&other=1&other=2&grant_type=`)).status).toBe(200)
  })

  it('must contain credentials once', async () => {
    const { authUrl } = await testService()
    const { clientId, clientSecret } = application
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
    const send = (form: Record<string, string>) => postForm(authUrl + url, form, { authorization })
    expect((await send({})).status).toBe(200)
    expect((await send({ client_id: clientId })).status).toBe(200)
    expect((await send({ client_id: 'another' })).status).toBe(400)
    expect((await send({ client_id: clientId, client_secret: clientSecret })).status).toBe(400)
  })

  const junk = `${Buffer.from(`${application.clientId}:${application.clientSecret}`).toString('base64')}=!`
  it.each(['Basic', 'Basic !!!', 'Basic Og==', 'Basic YQ==', 'Basic YTo=', `Basic ${junk}`])(
    'with malformed Basic authentication (%s) are rejected',
    async (authorization) => {
      const { authUrl } = await testService()
      const { status, body } = await postForm(authUrl + url, {}, { authorization })
      expect([status, body.ErrorCode]).toEqual([400, 'invalid_request'])
    },
  )
})
