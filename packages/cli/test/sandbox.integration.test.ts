import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runTokenwell, startTokenwell } from './tokenwell-process.ts'

describe('tokenwell sandbox', () => {
  it('prints a URL and credentials, and stops on a signal', async () => {
    const args = ['--product', 'speech-to-text', '--lifetime', '60', '--form', 'refresh', '--json']
    const sandbox = startTokenwell(['sandbox', ...args])
    await sandbox.wrote('SANDBOX_URL":')
    const env = JSON.parse(sandbox.written.stdout) as Record<string, string>
    expect(Object.keys(env)).toStrictEqual(['AUTH_URL', 'CLIENT_ID', 'CLIENT_SECRET', 'SANDBOX_URL'])
    const { stdout, code } = await runTokenwell(['token', '--json'], env)
    expect(code).toBe(0)
    expect(JSON.parse(stdout).expires_in).toBeLessThanOrEqual(60)
    const faults = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"status":401}' }
    expect((await fetch(`${env['SANDBOX_URL']}/faults`, faults)).status).toBe(201)
    expect((await runTokenwell(['token'], env)).code).toBe(1)
    sandbox.child.kill('SIGINT')
    expect(await sandbox.ended).toStrictEqual({ code: 0, signal: null })
  })

  it('accepts any credentials', async () => {
    const secret = `it's "odd" $HOME`
    const sandbox = startTokenwell(['sandbox', '--client-id', 'my id', '--client-secret', secret])
    await sandbox.wrote('SANDBOX_URL=')
    const [, url] = /^AUTH_URL=(.*)$/m.exec(sandbox.written.stdout) ?? []
    expect(sandbox.written.stdout).toMatch(/^CLIENT_ID='my id'$/m)
    expect(sandbox.written.stdout).toContain(String.raw`CLIENT_SECRET='it'\''s "odd" $HOME'`)
    const env = { AUTH_URL: url!, CLIENT_ID: 'my id', CLIENT_SECRET: secret }
    expect((await runTokenwell(['token'], env)).code).toBe(0)
  })

  it.each([
    [['--port', '70000'], /whole number from 0 to 65535/],
    [['--lifetime', '1.5'], /whole number from 1 to/],
    [['--form', 'xml'], /Allowed choices are products, refresh/],
    [
      ['--client-secret', 'ü'],
      /applications\[0\]\.clientSecret" must be 1 to 512 printable ASCII characters/,
    ],
  ])('explains wrong usage: %j', async (args, message) => {
    const ended = await runTokenwell(['sandbox', ...args])
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
    expect(ended.stderr).not.toMatch(/^\s+at /m)
  })

  it('reports a port that is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const ended = await runTokenwell(['sandbox', '--port', String(port)])
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(`Port ${port}`) })
  })
})
