import { noResponse, startProtectedApi, type ProtectedApi } from '@tokenwell/testing'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runTokenwell } from './run-tokenwell.ts'
import { useSandboxedService } from './sandboxed-service.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { startTokenwell } from './tokenwell-process.ts'

const service = useSandboxedService()
let api: ProtectedApi
beforeEach(async () => {
  api = await startProtectedApi()
})
afterEach(() => api.close())

const environment = (more: Record<string, string> = {}) => ({
  ...service.environmentOf('demo'),
  XDG_STATE_HOME: temporaryFolder({}),
  ALLOWED_ORIGINS: `https://other.example.com ${api.origin}`,
  ...more,
})

describe('tokenwell curl', () => {
  it('sends a request with a token, and passes on arguments, output and exit code', async () => {
    const sent = startTokenwell(
      ['curl', `${api.origin}/orders?a="b"`, '--', '--silent', '--json', '{"item":7}', '-w', ' %{http_code}'],
      environment(),
    )
    expect(await sent.ended).toMatchObject({ code: 0 })
    expect(sent.written).toStrictEqual({ stdout: '{"accepted":true} 200', stderr: '' })
    expect(api.requests[0]).toMatchObject({ method: 'POST', url: '/orders?a=%22b%22', body: '{"item":7}' })
    expect(api.tokens[0]).toMatch(/^[\w-]{40,}$/)

    api.rejects = () => true
    const failing = startTokenwell(['curl', api.origin, '--', '--silent', '--fail'], environment())
    // "HTTP page not retrieved", of curl.
    expect(await failing.ended).toMatchObject({ code: 22 })
  })

  it('passes on standard input', async () => {
    const sent = startTokenwell(['curl', api.origin, '--', '--silent', '-d', '@-'], environment())
    sent.child.stdin!.end('from standard input')
    await sent.ended
    expect(api.requests[0]?.body).toBe('from standard input')
  })

  it('shows neither the token nor the secret in the process list', async () => {
    api.respond = () => noResponse
    const env: Record<string, string> = environment({ TOKEN_CACHE_KEY: randomBytes(32).toString('base64') })
    const running = startTokenwell(['curl', api.origin, '--', '--silent'], env)
    const { headers } = await api.nextRequest()
    const token = headers.authorization!.replace('Bearer ', '')
    const listed = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    expect(listed).toContain('curl --disable --config')
    const secrets = [token, env['CLIENT_SECRET']!, env['TOKEN_CACHE_KEY']!]
    for (const secret of secrets) expect(listed).not.toContain(secret)
    // Nor in the environment of curl.
    const isCurl = (pid: string) => readFile(`/proc/${pid}/cmdline`).startsWith('curl\0--disable\0--config')
    const curls = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isCurl(name))
    expect(curls.length).toBeGreaterThan(0)
    for (const pid of curls)
      for (const secret of secrets) expect(readFile(`/proc/${pid}/environ`)).not.toContain(secret)
    running.child.kill()
  })

  it.each<[string, string[], RegExp]>([
    [
      'an origin that is not allowed',
      ['https://evil.example.com/'],
      /evil\.example\.com is not an allowed origin/,
    ],
    ['plain HTTP', ['http://other.example.com/'], /must start with https/],
    ['a relative URL', ['/orders'], /must be absolute/],
    ['a URL without a scheme', ['localhost:8080/orders'], /must be absolute/],
    ['another scheme', ['ftp://other.example.com/', '--allow-insecure'], /must be absolute/],
  ])('sends nothing to %s', async (_name, args, message) => {
    const { code, stderr } = await runTokenwell(['curl', ...args], environment())
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect((await service.journal()).total).toBe(0)
  })

  it('sends the request verbatim, as one request', async () => {
    const path = '/orders?filter[0]={a,b}&range=[1-2]'
    const sent = startTokenwell(
      ['curl', api.origin + path, '--', '-sSo/dev/null', '-T', '/dev/null', '-w%{http_code}'],
      environment(),
    )
    await sent.ended
    expect(sent.written).toStrictEqual({ stdout: '200', stderr: '' })
    expect(api.requests).toMatchObject([{ method: 'PUT', url: path }])
  })

  it('sends nothing if no origin is allowed', async () => {
    const { ALLOWED_ORIGINS: _none, ...env } = environment()
    const { code, stderr } = await runTokenwell(['curl', api.origin], env)
    expect(api.requests).toStrictEqual([])
    expect(stderr).toContain(`${api.origin} is not an allowed origin. Pass --allow-origin ${api.origin}`)
    expect(code).toBe(2)
  })

  describe('with a second server', () => {
    let other: ProtectedApi
    let host: string
    beforeEach(async () => {
      other = await startProtectedApi()
      host = new URL(other.origin).host
      api.respond = () => ({ status: 302, headers: { location: other.origin } })
    })
    afterEach(() => other.close())

    it.each<[string, (host: string, file: string) => string[], string]>([
      ['a second URL', () => [`http://${host}`], 'a value without an option'],
      ['a second URL after an option', () => ['-s', `http://${host}`], 'a value without an option'],
      ['a second URL without a scheme', () => [host], 'a value without an option'],
      ['a second URL after combined options', () => ['-sSo/dev/null', host], 'a value without an option'],
      ['a second URL after the value of an option', () => ['-so', '/dev/null', host], 'without an option'],
      ['a second URL after another --', () => ['--', '--', host], '-- is not an allowed option'],
      ['an empty argument', () => ['', host], 'without an option'],
      ['--url', () => ['--url', host], '--url is not an allowed option'],
      ['--url with =', () => [`--url=${host}`], '--url is not an allowed option'],
      ['the beginning of --url', () => ['--ur', host], '--ur is not an allowed option'],
      ['--next', () => ['--next', host], '--next is not an allowed option'],
      ['-:', () => ['-s:', host], '-: is not an allowed option'],
      ['--config', (_, file) => ['--config', file], '--config is not an allowed option'],
      ['the beginning of --config', (_, file) => ['--conf', file], '--conf is not an allowed option'],
      ['-K', (_, file) => ['-K', file], '-K is not an allowed option'],
      ['-K with its value', (_, file) => [`-K${file}`], '-K is not an allowed option'],
      ['-K among combined options', (_, file) => [`-sSK${file}`], '-K is not an allowed option'],
      ['--proxy', () => ['--proxy', host], '--proxy is not an allowed option'],
      ['-x', () => [`-x${host}`], '-x is not an allowed option'],
      ['-x among combined options', () => [`-six${host}`], '-x is not an allowed option'],
      ['--preproxy', () => ['--preproxy', `socks5://${host}`], '--preproxy is not an allowed option'],
      ['--socks5', () => ['--socks5', host], '--socks5 is not an allowed option'],
      ['--connect-to', () => ['--connect-to', `::${host}`], '--connect-to is not an allowed option'],
      ['--resolve', () => ['--resolve', '*:80:127.0.0.1'], '--resolve is not an allowed option'],
      ['--unix-socket', () => ['--unix-socket', '/tmp/a'], '--unix-socket is not an allowed option'],
      ['--insecure', () => ['-sk'], '-k is not an allowed option'],
      ['--alt-svc', () => ['--alt-svc', '/tmp/a'], '--alt-svc is not an allowed option'],
      ['-L', () => ['-sLo/dev/null'], '-L is not an allowed option'],
      ['--location', () => ['--location'], '--location is not an allowed option'],
      ['--location-trusted', () => ['--location-trusted'], '--location-trusted is not an allowed option'],
      [
        'the beginning of --location-trusted',
        () => ['--location-t'],
        '--location-t is not an allowed option',
      ],
      ['an option after a dash', () => ['-s-fail'], '-s is not an allowed option'],
      ['a header Host', () => ['-H', `Host: ${host}`], '-H must be a header other than Host'],
      ['a header Host among combined options', () => [`-sHhost:${host}`], '-H must be a header other than'],
      ['a second token', () => ['--header', 'authorization: Basic x'], '--header must be a header other'],
      ['headers of a file', (_, file) => ['-H', `@${file}`], '-H must be a header other than Host'],
      ['a second request in a header', () => ['-A', `a\r\nHost: ${host}`], 'The value of -A contains a line'],
    ])('sends nothing with %s', async (_name, argumentsFor, message) => {
      const file = join(temporaryFolder({ config: `url = "${other.origin}"` }), 'config')
      const { code, stderr } = await runTokenwell(
        ['curl', api.origin, '--', ...argumentsFor(host, file)],
        environment(),
      )
      expect(other.tokens).toStrictEqual([])
      expect(api.requests).toStrictEqual([])
      expect(stderr).toContain(message)
      expect(code).toBe(2)
    })

    it('reads no configuration file of curl', async () => {
      const home = temporaryFolder({ '.curlrc': `url = "${other.origin}"\n--location-trusted` })
      const sent = startTokenwell(['curl', api.origin, '--', '-s'], environment({ HOME: home }))
      await sent.ended
      expect(other.tokens).toStrictEqual([])
      expect(api.requests).toHaveLength(1)
    })

    it('sends plain HTTP through no proxy', async () => {
      const proxies = { http_proxy: other.origin, ALL_PROXY: other.origin, NO_PROXY: '' }
      const sent = startTokenwell(['curl', api.origin, '--', '-s'], environment(proxies))
      await sent.ended
      expect(other.requests).toStrictEqual([])
      expect(api.requests).toHaveLength(1)
    })

    it('shows a proxy for HTTPS no token', async () => {
      const proxy = createServer().listen(0, '127.0.0.1')
      await once(proxy, 'listening')
      const { port } = proxy.address() as AddressInfo
      const env = environment({ HTTPS_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: '' })
      const sent = startTokenwell(['curl', 'https://other.example.com', '--', '-s'], env)
      const [socket] = (await once(proxy, 'connection')) as [Socket]
      const [received] = (await once(socket, 'data')) as [Buffer]
      expect(String(received)).toMatch(/^CONNECT other\.example\.com:443 (?!.*(?:bearer|authorization))/is)
      socket.destroy()
      await sent.ended
      proxy.close()
    })

    it('passes the values of options on, whatever they look like', async () => {
      const sent = startTokenwell(
        ['curl', api.origin, '--', '-sw', '--next', '-o', '/dev/null', '-d', host, '--data-raw', '-K\n-x'],
        environment(),
      )
      expect(await sent.ended).toMatchObject({ code: 0 })
      expect(sent.written.stdout).toBe('--next')
      expect(api.requests).toMatchObject([{ method: 'POST', body: `${host}&-K\n-x` }])
      expect(other.requests).toStrictEqual([])
    })
  })

  it('agrees with curl on the names and the values of the allowed options', async () => {
    const { stdout: help } = await runTokenwell(['curl', '--help'])
    const list = /Allowed options of curl.*?:\n(.*?)\n\n/s.exec(help)![1]!
    const allowed = list.split(',').map((each) => each.trim())
    expect(allowed.length).toBeGreaterThan(60)
    const known = new Map(
      execFileSync('curl', ['--help', 'all'], { encoding: 'utf8' })
        .split('\n')
        .map((line) => /^ *(?:(-.), )?(--[\w.-]+)( <)?/.exec(line) ?? [])
        .map(([, short, long, value]) => [long, `${short ? `${short}/` : ''}${long}${value ? ' …' : ''}`]),
    )
    for (const each of allowed) {
      const long = /--[\w.-]+/.exec(each)![0]
      // An older curl does not know every option.
      if (known.has(long)) expect(each).toBe(known.get(long))
    }
    const documented = readFileSync(new URL('../../../docs/command-line.md', import.meta.url), 'utf8')
    for (const each of allowed) expect(documented).toContain(`\`${each.replace(' …', '')}\``)
  })

  it('reports that curl is missing', async () => {
    const running = startTokenwell(['curl', api.origin], environment({ PATH: pathWithoutCurl() }))
    expect(await running.ended).toMatchObject({ code: 2 })
    expect(running.written.stderr).toBe('tokenwell: curl is not installed. Install it.\n')
  })
})

function pathWithoutCurl(): string {
  const folder = temporaryFolder({})
  for (const program of ['sh', 'cat']) symlinkSync(`/bin/${program}`, join(folder, program))
  return folder
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // The process has ended.
    return ''
  }
}
