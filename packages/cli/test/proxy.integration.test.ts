import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { json, startScriptedServer } from '@tokenwell/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useSandboxedService } from './sandboxed-service.ts'
import { runTokenwell, startTokenwell } from './tokenwell-process.ts'

const service = useSandboxedService()
const run = promisify(execFile)

async function startProxy(target: string, clientId = 'demo') {
  const proxy = startTokenwell(['proxy', '--to', target], service.environmentOf(clientId))
  await proxy.wrote('Ctrl+C')
  return { ...proxy, url: proxy.written.stdout.trim() }
}

type Handle = (...exchange: Parameters<RequestListener>) => void | Promise<void>

async function startApi(handle: Handle): Promise<string> {
  const server = createServer((...exchange) => void handle(...exchange)).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function signal() {
  let resolve!: () => void
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}

/** Sends a path as it is, which `fetch` would normalize. */
async function send(url: string, path: string, headers: Record<string, string> = {}): Promise<number> {
  const request = httpRequest(url, { path, headers }).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode!
}

describe('tokenwell proxy', () => {
  it('sends requests below the target with a token, and returns the response', async () => {
    const api = await startScriptedServer(() => json({ item: 'tea' }, 201, { 'x-of-api': 'yes' }))
    onTestFinished(() => api.close())
    const { url, child, ended, written } = await startProxy(`${api.origin}/v1/`)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}$/)
    const response = await fetch(`${url}/orders?page=2`, {
      method: 'POST',
      headers: { authorization: 'Bearer of-the-client', referer: `${url}/x`, 'x-of-client': 'yes' },
      body: 'canary-body',
    })
    expect([response.status, response.headers.get('x-of-api'), await response.json()]).toEqual([
      201,
      'yes',
      { item: 'tea' },
    ])
    expect(api.requests).toHaveLength(1)
    const [{ method, url: path, headers, body }] = api.requests as [(typeof api.requests)[number]]
    expect([method, path, body]).toEqual(['POST', '/v1/orders?page=2', 'canary-body'])
    expect(headers).toMatchObject({
      authorization: expect.stringMatching(/^Bearer [\w-]{40,}$/),
      host: new URL(api.origin).host,
      'x-of-client': 'yes',
    })
    expect(headers).not.toHaveProperty('referer')
    child.kill('SIGTERM')
    expect(await ended).toEqual({ code: 0, signal: null })
    expect(written.stdout).toBe(`${url}\n`)
    expect(written.stderr).not.toMatch(/canary|Bearer|orders/)
  })

  it('passes on each event of a stream as it arrives', async () => {
    const received = signal()
    const api = await startApi(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
      await received.promise
      response.end('data: 2\n\n')
    })
    const { url } = await startProxy(api)
    const reader = (await fetch(`${url}/events`)).body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader.read()).value).toBe('data: 1\n\n')
    received.resolve()
    expect((await reader.read()).value).toBe('data: 2\n\n')
  })

  it('passes on each part of an upload as it arrives', async () => {
    const arrived = signal()
    const api = await startApi(async (request, response) => {
      let text = ''
      for await (const part of request.setEncoding('utf8')) {
        text += part
        arrived.resolve()
      }
      response.end(text)
    })
    const { url } = await startProxy(api)
    const request = httpRequest(`${url}/upload`, { method: 'PUT' })
    request.write('one ')
    await arrived.promise
    request.end('two')
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    expect((await response.setEncoding('utf8').toArray()).join('')).toBe('one two')
  })

  it('sends a request again when the API rejects the token', async () => {
    let rejected: string | undefined
    const api = await startScriptedServer(({ headers: { authorization }, body }) => {
      rejected ??= authorization
      return authorization === rejected ? json({}, 401) : json({ body })
    })
    onTestFinished(() => api.close())
    const { url } = await startProxy(api.origin)
    const response = await fetch(url, { method: 'POST', body: 'again' })
    expect([response.status, await response.json()]).toEqual([200, { body: 'again' }])
  })

  it('ends the request to the API when the client leaves', async () => {
    const closed = signal()
    const begun = signal()
    const api = await startApi((_request, response) => {
      response.once('close', () => closed.resolve())
      begun.resolve()
    })
    const { url } = await startProxy(api)
    const leaving = new AbortController()
    const response = fetch(url, { signal: leaving.signal })
    await begun.promise
    leaving.abort()
    await expect(response).rejects.toThrow('aborted')
    await closed.promise
  })

  it('gives nothing to a request without the path, to another host name or outside of the target', async () => {
    const api = await startScriptedServer(() => json({}))
    onTestFinished(() => api.close())
    const { url } = await startProxy(`${api.origin}/v1`)
    const { host, pathname: secret, port } = new URL(url)
    const paths = ['/', '/v1', secret.slice(0, -1), `${secret}x`, `/x${secret}`, `//evil.test${secret}`]
    const outside = ['/..', '/../v2', '/%2e%2e/v2', '/../v1x', '@evil.test/v1']
    for (const path of [...paths, ...outside.map((rest) => secret + rest), `http://evil.test${secret}`])
      expect([path, await send(url, path)]).toEqual([path, 404])
    for (const name of [
      'evil.test',
      `evil.test:${port}`,
      '127.0.0.1',
      'localhost',
      `127.0.0.1.evil.test:${port}`,
    ])
      expect([name, await send(url, secret, { host: name })]).toEqual([name, 404])
    expect(api.requests).toEqual([])
    expect(await send(url, secret, { host })).toBe(200)
    expect(await send(url, `${secret}//evil.test/`, { host: `localhost:${port}` })).toBe(200)
    expect(api.requests.map(({ url: path }) => path)).toEqual(['/v1', '/v1//evil.test/'])
  })

  it('does not follow redirects, and keeps those within the target on its own URL', async () => {
    const locations = ['/v1/moved?a=1', '/v2', 'https://evil.test/v1', 'moved']
    const api = await startScriptedServer(({ url: path }) => ({
      status: 302,
      headers: { location: locations[Number(path.at(-1))]! },
    }))
    onTestFinished(() => api.close())
    const { url } = await startProxy(`${api.origin}/v1`)
    const { pathname } = new URL(url)
    const received = []
    for (const index of locations.keys()) {
      const { headers } = await fetch(`${url}/${index}`, { redirect: 'manual' })
      received.push(headers.get('location'))
    }
    expect(received).toEqual([
      `${pathname}/moved?a=1`,
      `${api.origin}/v2`,
      'https://evil.test/v1',
      `${pathname}/moved`,
    ])
  })

  it('decodes compressed responses', async () => {
    const { gzipSync } = await import('node:zlib')
    const api = await startApi((_request, response) => {
      response.setHeader('content-encoding', 'gzip').end(gzipSync('tea'))
    })
    const { url } = await startProxy(api)
    expect((await run('curl', ['-sS', url])).stdout).toBe('tea')
  })

  it('responds with the reason when there is no token or no API', async () => {
    const rejected = await startProxy('http://127.0.0.1:1', 'expired')
    const response = await fetch(rejected.url)
    expect([response.status, await response.json()]).toEqual([
      502,
      { error: 'proxy', error_description: expect.stringMatching(/rejected the client credentials/) },
    ])
    const unreachable = await startProxy('http://127.0.0.1:1')
    const reply = await fetch(unreachable.url)
    expect([reply.status, await reply.json()]).toEqual([
      502,
      {
        error: 'proxy',
        error_description: expect.stringMatching(/^127\.0\.0\.1:1 cannot be reached \(\S+\)\.$/),
      },
    ])
  })

  it.each([
    ['canary', /--to must be the base URL/],
    ['https://user:canary@api.test', /--to must be the base URL/],
    ['http://api.test', /--to must start with https:\/\//],
  ])('rejects the target %s', async (target, message) => {
    const { code, stderr } = await runTokenwell(['proxy', '--to', target], service.environmentOf('demo'))
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('canary')
  })
})
