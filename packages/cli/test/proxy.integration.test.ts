import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hasChromium, inChromium, openBrowser } from '@tokenwell/internal-testing/browser'
import { json, startScriptedServer } from '@tokenwell/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useSandboxedService } from './sandboxed-service.ts'
import { runTokenwell, startTokenwell } from './tokenwell-process.ts'

const service = useSandboxedService()
const hasPython = spawnSync('python3', ['--version']).status === 0
const hasGo = spawnSync('go', ['version']).status === 0
const goProgram = `package main
import ("fmt"; "io"; "net/http"; "os")
func main() {
  response, err := http.Get(os.Args[1])
  if err != nil { panic(err) }
  body, _ := io.ReadAll(response.Body)
  fmt.Print(string(body))
}
`
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

  it.skipIf(!hasPython)('serves a program in Python', async () => {
    const api = await startScriptedServer(() => json({ item: 'tea' }))
    onTestFinished(() => api.close())
    const { url } = await startProxy(`${api.origin}/v1`)
    const code = 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())'
    const { stdout } = await run('python3', ['-c', code, `${url}/orders`], {
      env: { PATH: process.env['PATH'] },
    })
    expect(JSON.parse(stdout)).toEqual({ item: 'tea' })
    expect(api.requests[0]?.headers.authorization).toMatch(/^Bearer /)
  })
  if (!hasPython) it.skip('Python needs: apt-get install python3', () => {})

  it.skipIf(!hasGo)('serves a program in Go', async () => {
    const api = await startScriptedServer(() => json({ item: 'tea' }))
    onTestFinished(() => api.close())
    const { url } = await startProxy(`${api.origin}/v1`)
    const folder = await mkdtemp(join(tmpdir(), 'tokenwell-go-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'main.go'), goProgram)
    const env = { PATH: process.env['PATH'], HOME: folder, GOCACHE: folder, GO111MODULE: 'off' }
    const { stdout } = await run('go', ['run', 'main.go', `${url}/orders`], { cwd: folder, env })
    expect(JSON.parse(stdout)).toEqual({ item: 'tea' })
    expect(api.requests[0]?.headers.authorization).toMatch(/^Bearer /)
  })
  if (!hasGo) it.skip('Go needs: apt-get install golang-go', () => {})

  it.skipIf(!hasChromium)(
    `gives nothing to a page, whose requests do not have the path, ${inChromium}`,
    async () => {
      const api = await startScriptedServer(() => json({ item: 'tea' }))
      onTestFinished(() => api.close())
      const { url } = await startProxy(`${api.origin}/v1`)
      const site = await startScriptedServer(() => ({ headers: { 'content-type': 'text/html' }, body: '' }))
      onTestFinished(() => site.close())
      const browser = await openBrowser()
      onTestFinished(() => browser.close())
      const page = await browser.newPage()
      await page.goto(site.origin)
      const { origin } = new URL(url)
      const outcome = await page.evaluate(async (proxy) => {
        await fetch(`${proxy}/v1/orders`, { mode: 'no-cors', method: 'POST', body: '{}' })
        return fetch(`${proxy}/v1/orders`).then(
          ({ status }) => String(status),
          ({ name }: Error) => name,
        )
      }, origin)
      expect(outcome).toBe('TypeError')
      expect(api.requests).toEqual([])
    },
  )

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
        error_description: expect.stringMatching(/^127\.0\.0\.1:1 cannot be reached \(bad port\)\.$/),
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
