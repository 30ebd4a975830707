import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { hasChromium, inChromium, openBrowser } from '@tokenwell/internal-testing/browser'
import { json, startScriptedServer } from '@tokenwell/internal-testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useSandboxedService } from '../sandboxed-service.ts'
import { runTokenwell, temporaryFolder } from '../tokenwell-process.ts'
import { startTlsServer } from '../doctor/tls-server.ts'
import { exchange, startApi, startProxy as startProxyFor, startRawApi } from './running-proxy.ts'

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

function signal() {
  let resolve!: () => void
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}

async function startProxy(target: string, clientId = 'demo') {
  const proxy = await startProxyFor(target, service.environmentOf(clientId))
  return { ...proxy, url: proxy.url.href }
}

/** Sends a path as it is, which `fetch` would normalize. */
async function send(url: string, path: string, headers: Record<string, string> = {}): Promise<number> {
  const request = httpRequest(url, { path, headers }).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode!
}

describe('tokenwell proxy', () => {
  it('keeps its path in a private file, so that its URL can be configured', async () => {
    const file = join(temporaryFolder({}), 'path')
    const pathWith = async () => {
      const proxy = await startProxyFor('https://api.example.com', service.environmentOf('demo'), [
        '--path-file',
        file,
      ])
      proxy.child.kill('SIGTERM')
      await proxy.ended
      return proxy.url.pathname
    }
    const path = await pathWith()
    expect(path).toBe(`/${readFileSync(file, 'utf8').trim()}`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await pathWith()).toBe(path)
    const fails = async () => {
      const args = ['proxy', '--to', 'https://api.example.com', '--path-file', file]
      return (await runTokenwell(args, service.environmentOf('demo'))).stderr
    }
    chmodSync(file, 0o644)
    expect(await fails()).toContain(`Run chmod 600 ${file}.`)
    chmodSync(file, 0o600)
    writeFileSync(file, 'short')
    expect(await fails()).toContain('contains no path of a proxy')
  })

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

  it('passes on the start and each event of a stream as they arrive', async () => {
    const begun = signal()
    const received = signal()
    const api = await startApi(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      await begun.promise
      response.write('data: 1\n\n')
      await received.promise
      response.end('data: 2\n\n')
    })
    const { url } = await startProxy(api)
    const events = await fetch(`${url}/events`)
    begun.resolve()
    const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader()
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

  it('finds the reason of a rejection in a compressed body, and passes on the body as it is', async () => {
    const body = gzipSync(JSON.stringify({ fault: { faultstring: 'Access Token expired' } }))
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const sent: (string | undefined)[] = []
    const api = await startApi((request, response) => {
      sent.push(request.headers.authorization)
      response.writeHead(403, headers)
      // In two parts, and without an end until both have arrived.
      response.write(body.subarray(0, 20))
      setImmediate(() => response.end(body.subarray(20)))
    })
    const { url } = await startProxy(api)
    const response = await fetch(url, {
      method: 'POST',
      body: 'again',
      headers: { 'accept-encoding': 'gzip' },
    })
    expect([response.status, await response.json()]).toEqual([
      403,
      { fault: { faultstring: 'Access Token expired' } },
    ])
    expect(new Set(sent).size).toBe(2)
  })

  it('passes on the response to an upload that the API does not wait for, and the next request', async () => {
    const api = await startApi(({ url: path }, response) => {
      if (path === '/upload') response.writeHead(413, { connection: 'close' })
      response.end(path)
    })
    const { url } = await startProxy(api)
    const { pathname, host, port } = new URL(url)
    const head = (method: string, path: string, ...fields: string[]) =>
      [`${method} ${pathname}${path} HTTP/1.1`, `Host: ${host}`, ...fields, '', ''].join('\r\n')
    const socket = connect(Number(port), '127.0.0.1').setEncoding('latin1')
    onTestFinished(() => void socket.destroy())
    let received = ''
    socket.on('data', (part) => (received += String(part)))
    socket.write(`${head('PUT', '/upload', 'Transfer-Encoding: chunked')}3\r\none\r\n`)
    await expect.poll(() => received).toMatch(/^HTTP\/1\.1 413 [^]*\/upload/)
    // More than is buffered.
    socket.write(`100000\r\n${'x'.repeat(0x100000)}\r\n0\r\n\r\n${head('GET', '/next')}`)
    await expect.poll(() => received).toMatch(/HTTP\/1\.1 200 [^]*\/next/)
  })

  it('closes the connection of a rejection that is not passed on', async () => {
    const closed = signal()
    let rejected: string | undefined
    const api = await startApi(async ({ headers: { authorization } }, response) => {
      rejected ??= authorization
      if (authorization === rejected) {
        response.once('close', () => closed.resolve())
        response.writeHead(401).write('and so on')
      } else {
        await closed.promise
        response.end('accepted')
      }
    })
    const { url } = await startProxy(api)
    expect(await (await fetch(url)).text()).toBe('accepted')
  })

  it('sends requests to an API over TLS, whose certificate it checks', async () => {
    const api = await startTlsServer()
    const trusted = await startProxyFor(api.origin, {
      ...service.environmentOf('demo'),
      NODE_EXTRA_CA_CERTS: join(temporaryFolder({ 'ca.pem': api.certificate }), 'ca.pem'),
    })
    expect((await fetch(trusted.url, { method: 'POST', body: 'over TLS' })).status).toBe(200)
    expect(api.requests).toEqual(['over TLS'])
    const { url } = await startProxy(api.origin)
    const response = await fetch(url)
    expect([response.status, await response.json()]).toEqual([
      502,
      {
        error: 'proxy',
        error_description: expect.stringMatching(/cannot be reached \(DEPTH_ZERO_SELF_SIGNED_CERT\)/),
      },
    ])
  })

  it('uses the proxy of the network', async () => {
    const network = await startScriptedServer(({ url }) => json({ url }))
    onTestFinished(() => network.close())
    const { url } = await startProxyFor('http://localhost:1/v1', {
      ...service.environmentOf('demo'),
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: network.origin,
      NO_PROXY: '127.0.0.1',
    })
    expect(await (await fetch(`${url.href}/orders`)).json()).toEqual({ url: 'http://localhost:1/v1/orders' })
  })

  it('rejects what it cannot forward, and an invalid response', async () => {
    const api = await startRawApi((_message, socket) => {
      socket.end(responses.shift()!)
    })
    const { url } = await startProxyFor(`${api}/v1`, service.environmentOf('demo'))
    const responseTo = async (method: string, ...fields: string[]) => {
      const lines = [
        `${method} ${url.pathname} HTTP/1.1`,
        `Host: ${url.host}`,
        'Connection: close',
        ...fields,
      ]
      const [status, ...rest] = (await exchange(url, `${lines.join('\r\n')}\r\n\r\n`)).split('\r\n')
      return [status!.split(' ')[1], /"error_description":"([^"]*)"/.exec(rest.join('\n'))?.[1]]
    }
    const responses: string[] = []
    expect(await responseTo('GET', 'Host: evil.test')).toEqual([
      '400',
      'The request has two Host headers (RFC 9112, section 3.2).',
    ])
    expect(await responseTo('TRACE')).toEqual([
      '501',
      'TRACE is not supported: the API would send the token back.',
    ])
    expect(await responseTo('POST', 'Transfer-Encoding: gzip, chunked')).toEqual([
      '501',
      'The only supported Transfer-Encoding is chunked.',
    ])
    const { host } = new URL(api)
    responses.push('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n')
    expect(await responseTo('GET')).toEqual(['502', `${host} closed the connection.`])
    responses.push('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n')
    expect(await responseTo('GET')).toEqual(['502', 'The only supported Transfer-Encoding is chunked.'])
    responses.push('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n12')
    expect(await responseTo('GET')).toEqual([
      '502',
      `${host} sent an invalid response (HPE_UNEXPECTED_CONTENT_LENGTH).`,
    ])
    responses.push('HTTP/1.1 099 Odd\r\n\r\n')
    expect(await responseTo('GET')).toEqual([
      '502',
      `${host} sent an invalid response (ERR_HTTP_INVALID_STATUS_CODE).`,
    ])
    responses.push('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n')
    const withoutBody = `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: close\r\n\r\n`
    expect(await exchange(url, withoutBody)).not.toMatch(/content-length/i)
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
        error_description: expect.stringMatching(/^127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)\.$/),
      },
    ])
  })

  it.each([
    ['canary', /--to is not a valid URL/],
    ['https://user:canary@api.test', /--to must not contain a user name/],
    ['https://api.test/?canary', /--to must not contain a query/],
    ['http://api.test', /--to must start with https:\/\//],
  ])('rejects the target %s', async (target, message) => {
    const { code, stderr } = await runTokenwell(['proxy', '--to', target], service.environmentOf('demo'))
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('canary')
  })
})
