import type { RequestListener, ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { clientCredentials, type ClientCredentialsOptions } from '@tokenwell/core'
import { readText, startServer } from '../support/issuer.ts'

const credentials = { clientId: 'client', clientSecret: 'secret' }
const body = JSON.stringify({ access_token: 'token', token_type: 'Bearer', expires_in: '3599' })

async function ask(listener: RequestListener, options: Partial<ClientCredentialsOptions> = {}) {
  const tokenEndpoint = await startServer(listener)
  return askAt(tokenEndpoint, options)
}

function askAt(
  tokenEndpoint: string,
  options: Partial<ClientCredentialsOptions> = {},
  attemptTimeoutMs = 10_000,
) {
  return clientCredentials({
    ...credentials,
    tokenEndpoint,
    ...options,
    maxAttempts: 1,
    attemptTimeoutMs,
  }).getToken()
}

/** A server below HTTP, for responses that no HTTP server would send. */
async function startRaw(talk: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => talk(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('over real HTTP', () => {
  it('sends the token request of the platform', async () => {
    let seen: object | undefined
    const authUrl = await startServer((request, response) => {
      void readText(request).then((form) => {
        const { method, url, headers } = request
        seen = { method, url, type: headers['content-type'], authorization: headers.authorization, form }
        response.end(body)
      })
    })
    const tokens = clientCredentials({ ...credentials, authUrl })
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token', response: { expiresIn: 3_599 } })
    expect(seen).toEqual({
      method: 'POST',
      url: '/oauth/client_credential/accesstoken?grant_type=client_credentials',
      type: 'application/x-www-form-urlencoded',
      authorization: undefined,
      form: 'client_id=client&client_secret=secret',
    })
  })

  it.each([301, 302, 303, 307, 308])(
    'does not follow a redirect (%d), which would expose the secret',
    async (status) => {
      let followed = 0
      const elsewhere = await startServer((_request, response) => {
        followed++
        response.end(body)
      })
      const call = ask((_request, response) => void response.writeHead(status, { location: elsewhere }).end())
      await expect(call).rejects.toMatchObject({ kind: 'configuration', status })
      expect(followed).toBe(0)
    },
  )

  it.each([
    [
      'compressed',
      (response: ServerResponse) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body)),
    ],
    ['with a BOM', (response: ServerResponse) => response.end(`\uFEFF${body}`)],
    ['without a content type', (response: ServerResponse) => response.end(body)],
    [
      'as HTML',
      (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/html' }).end(body),
    ],
    [
      'byte by byte',
      (response: ServerResponse) => Array.from(body, (letter) => response.write(letter)) && response.end(),
    ],
  ])('reads a response %s', async (_name, send) => {
    await expect(ask((_request, response) => void send(response))).resolves.toMatchObject({
      value: 'token',
    })
  })

  it('decodes characters that are split between two chunks', async () => {
    const bytes = Buffer.from(JSON.stringify({ access_token: 'token', application_name: 'näme 😀' }))
    const call = ask((_request, response) => {
      const next = (at: number): void => {
        if (at === bytes.length) return void response.end()
        response.write(bytes.subarray(at, at + 1))
        setImmediate(() => next(at + 1))
      }
      next(0)
    })
    await expect(call).resolves.toMatchObject({ response: { applicationName: 'näme 😀' } })
  })
})

describe('a response that is too large', () => {
  const mebibyte = 1024 * 1024

  it('is aborted while it arrives, even without an end or a Content-Length', async () => {
    let sent = 0
    const gone = new Promise<void>((resolve) => {
      void ask((_request, response) => {
        response.on('close', resolve)
        const chunk = ' '.repeat(64 * 1024)
        const more = (): void => {
          while (!response.destroyed && response.write(chunk)) sent += chunk.length
          sent += chunk.length
        }
        response.on('drain', more)
        more()
      }).catch((error: unknown) => expect(error).toMatchObject({ kind: 'malformed', status: 200 }))
    })
    await gone
    // At most the size of the sockets' buffers.
    expect(sent).toBeLessThan(16 * mebibyte)
  })

  it('is aborted even if it is compressed', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * mebibyte, ' '))
    const call = ask(
      (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    )
    await expect(call).rejects.toMatchObject({
      kind: 'malformed',
      message: expect.stringMatching(
        / 1 MiB \(200\)\. Check the URL http:\/\/127\.0\.0\.1:\d+\/.*\.$/,
      ) as string,
    })
  })

  it('starts above 1 MiB', async () => {
    const filled = (length: number): string => body.replace('{', `{${' '.repeat(length - body.length)}`)
    await expect(ask((_request, response) => void response.end(filled(mebibyte)))).resolves.toBeDefined()
    await expect(ask((_request, response) => void response.end(filled(mebibyte + 1)))).rejects.toMatchObject({
      kind: 'malformed',
    })
  })
})

describe('an endpoint that cannot be reached', () => {
  const http = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
  it.each<[string, (socket: Socket) => void]>([
    ['closes the connection', (socket) => socket.destroy()],
    ['resets it', (socket) => socket.resetAndDestroy()],
    ['speaks no HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n')],
    ['breaks off in its headers', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-')],
    [
      'breaks off in its body',
      (socket) => socket.end(`${http}content-length: 1000\r\n\r\n{"access_token":"canary`),
    ],
    [
      'breaks off between chunks',
      (socket) => socket.end(`${http}transfer-encoding: chunked\r\n\r\n4\r\n{"ac\r\n`),
    ],
    ['sends too many headers', (socket) => socket.end(`${http}x: ${'x'.repeat(100_000)}\r\n\r\n{}`)],
    [
      'says it is compressed',
      (socket) => socket.end(`${http}content-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}`),
    ],
  ])('because it %s', async (_name, talk) => {
    const error: unknown = await askAt(await startRaw(talk)).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'TokenError', kind: 'unavailable', attempts: 1 })
    expect((error as Error).message).toMatch(
      /^Could not reach the token endpoint http:\/\/127\.0\.0\.1:\d+\/ \([\w.-]+(?:: Response does not match the HTTP.*)?\)\.$/,
    )
  })

  it.each<[string, object]>([
    ['bad port', {}],
    ['invalid header value', { headers: { tenant: 'canary€' } }],
    ['invalid header value', { headers: { tenant: 'canary\nx' } }],
    ['invalid header name', { headers: { 'canary x': '1' } }],
  ])('because fetch sends no such request: %s', async (reason, options) => {
    const tokens = clientCredentials({
      tokenEndpoint: 'http://127.0.0.1:6000/',
      ...credentials,
      ...options,
      maxAttempts: 1,
    })
    const error: unknown = await tokens.getToken().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ message: expect.stringContaining(`(${reason})`) as string })
    expect(String(error)).not.toContain('canary')
  })

  it('because no server is listening', async () => {
    // No server listens on port 1 of the loopback interface.
    const call = askAt('http://127.0.0.1:1')
    await expect(call).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('Could not reach the token endpoint http://127.0.0.1:1/ (') as string,
    })
  })

  it.each<[string, (socket: Socket) => void]>([
    ['never responds', () => {}],
    ['comes to a stop in its headers', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-')],
    [
      'comes to a stop in its body',
      (socket) => socket.write(`${http}content-length: 1000\r\n\r\n{"access_token":`),
    ],
  ])('because it %s: fails in time and closes the connection', async (_name, talk) => {
    let closed: () => void
    const gone = new Promise<void>((resolve) => (closed = resolve))
    const origin = await startRaw((socket) => {
      socket.on('close', () => closed())
      talk(socket)
    })
    // Long enough for the request to arrive on a busy machine.
    await expect(askAt(origin, {}, 1_000)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/did not respond to "\S+" within 1 s/) as string,
    })
    await gone
  })

  it('because it sends one byte at a time: fails in time', async () => {
    const origin = await startRaw((socket) => {
      socket.write(`${http}transfer-encoding: chunked\r\n\r\n`)
      const dripping = setInterval(() => socket.writable && socket.write('1\r\n \r\n'), 20)
      socket.on('close', () => clearInterval(dripping))
    })
    await expect(askAt(origin, {}, 300)).rejects.toMatchObject({ kind: 'unavailable' })
  })
})
