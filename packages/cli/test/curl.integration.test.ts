import { noResponse, startProtectedApi, type ProtectedApi } from '@tokenwell/test-suite'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
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
    const env: Record<string, string> = environment()
    const running = startTokenwell(['curl', api.origin, '--', '--silent'], env)
    const { headers } = await api.nextRequest()
    const token = headers.authorization!.replace('Bearer ', '')
    const listed = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    expect(listed).toContain('curl --config')
    const secrets = [token, env['CLIENT_SECRET']!]
    for (const secret of secrets) expect(listed).not.toContain(secret)
    // Nor in the environment of curl.
    const isCurl = (pid: string) => readFile(`/proc/${pid}/cmdline`).startsWith('curl\0--config')
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
    [
      'a second URL',
      ['https://other.example.com', '--', '-s', 'a', 'https://evil.example.com'],
      /another URL\. Only one is allowed/,
    ],
    ['another URL', ['https://other.example.com', '--', '--url', 'evil.example.com'], /--url is not allowed/],
    ['a trusted redirect', ['https://other.example.com', '--', '--location-trusted'], /is not allowed/],
  ])('sends nothing to %s', async (_name, args, message) => {
    const { code, stderr } = await runTokenwell(['curl', ...args], environment())
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect((await service.journal()).total).toBe(0)
  })

  it('does not send the token along with a redirect to another origin', async () => {
    const other = await startProtectedApi()
    api.respond = () => ({ status: 302, headers: { location: other.origin } })
    const sent = startTokenwell(['curl', api.origin, '--', '--silent', '--location'], environment())
    await sent.ended
    await other.close()
    expect(other.tokens).toStrictEqual([undefined])
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
