import { describe, expect, it } from 'vitest'
import { useSandboxedService } from './sandboxed-service.ts'
import { runTokenwell, command, startProcess, startTokenwell } from './tokenwell-process.ts'

const service = useSandboxedService()

describe('tokenwell', () => {
  it('prints its help with examples and exit codes', async () => {
    const { code, stdout } = await runTokenwell(['--help'])
    expect(code).toBe(0)
    for (const text of ['token ', 'doctor ', 'sandbox ', 'Exit codes:', 'Examples:']) {
      expect(stdout).toContain(text)
    }
    for (const name of ['token', 'doctor', 'sandbox']) {
      const help = await runTokenwell([name, '--help'])
      expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('Examples:') })
    }
    expect((await runTokenwell(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+/)
  })

  it('prints help that fits into 80 columns', async () => {
    const commands = [[], ['token'], ['logout'], ['proxy'], ['doctor'], ['sandbox']]
    const helps = await Promise.all(commands.map((name) => runTokenwell([...name, '--help'])))
    const lines = helps.flatMap(({ stdout }) => stdout.split('\n'))
    expect(lines.length).toBeGreaterThan(100)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
  })

  it.each([
    ['token', ['--header', '--json', '--headers-json', '--no-cache', '--fresh', '--fresh-after', '--help']],
    ['proxy', ['--to', '--port', '--path-file', '--help']],
    ['doctor', ['--api-url', '--try-wrong-secret', '--json', '--help']],
  ])('lists the options of %s by how common they are', async (name, own) => {
    const { stdout } = await runTokenwell([name, '--help'])
    const sections = stdout.split(/^(?=\S.*:$)/m).filter((section) => /^\S.*:\n {2}-/.test(section))
    expect(
      sections.map((section) => [
        section.split(':')[0],
        section.match(/^ {2}(?:-h, )?--[\w-]+/gm)!.map((flag) => flag.replace(/^ {2}(?:-h, )?/, '')),
      ]),
    ).toEqual([
      ['Options', own],
      [
        'Token endpoint and credentials',
        ['--issuer', '--token-endpoint', '--auth-url', '--client-id', '--client-secret', '--credentials'],
      ],
      ['Token request', expect.arrayContaining(['--scope', '--timeout'])],
      ['Instead of a client secret', expect.arrayContaining(['--private-key', '--identity'])],
    ])
  })

  it('exits with 2 without a command or with an unknown one', async () => {
    expect(await runTokenwell([])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Usage:'),
    })
    const unknown = await runTokenwell(['tokens'])
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean token?') })
  })

  it.each([
    ['token', 'the-secret'],
    ['token', '--timeout', 'the-secret'],
    ['token', '--expires-in', 'the-secret'],
    ['token', '--client-secret=', 'the-secret'],
    ['token', '--client-secrets=the-secret'],
    ['the-secret'],
    ['logout', 'the-secret', 'and another'],
  ])('does not print what may be a mistyped secret: %s %s', async (...args) => {
    const { code, stdout, stderr } = await runTokenwell(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^tokenwell: [A-Z].*\.\n→ .*\n$/)
    expect(stderr).not.toMatch(/the-secret|another/)
  })

  it('shows control characters of a path as text', async () => {
    const path = '/nonexistent/\u001B[31mred\u0007\u009B'
    const { code, stderr } = await runTokenwell([
      'token',
      '--auth-url',
      'https://a.test',
      '--credentials',
      path,
    ])
    expect(code).toBe(2)
    expect(stderr).toContain(String.raw`/nonexistent/\x1b[31mred\x07\x9b`)
  })

  it('exits with the code of the command', async () => {
    const right = startTokenwell(['token'], service.environmentOf('demo'))
    expect(await right.ended).toStrictEqual({ code: 0, signal: null })
    expect(right.written).toStrictEqual({ stdout: expect.stringMatching(/^[\w-]{40,}\n$/), stderr: '' })
    const wrong = startTokenwell(['token'], service.environmentOf('pending'))
    expect((await wrong.ended).code).toBe(1)
  })

  it('prints no error when its output is closed', async () => {
    const line = [...command, 'doctor'].map((word) => `'${word}'`).join(' ')
    const piped = startProcess(['/bin/sh', '-c', `${line} | head -1`], service.environmentOf('demo'))
    expect((await piped.ended).code).toBe(0)
    expect(piped.written.stdout).toBe(`${service.authUrl}/oauth/client_credential/accesstoken\n`)
    expect(piped.written.stderr).toBe('')
  })

  it('exits with 74 when its output cannot be written, as on a full disk', async () => {
    const line = [...command, 'token'].map((word) => `'${word}'`).join(' ')
    const full = startProcess(['/bin/sh', '-c', `${line} > /dev/full`], service.environmentOf('demo'))
    expect((await full.ended).code).toBe(74)
    expect(full.written.stderr).toBe('tokenwell: The output cannot be written (ENOSPC).\n')
  })

  it('exits with the same code when nobody reads its errors', async () => {
    const line = [...command, 'tokens'].map((word) => `'${word}'`).join(' ')
    const piped = startProcess(['bash', '--norc', '-c', `${line} 2>&1 | true; exit "\${PIPESTATUS[0]}"`], {})
    expect((await piped.ended).code).toBe(2)
    expect(piped.written.stderr).toBe('')
  })

  it('exits with 130 at once when it is interrupted', async () => {
    await service.fault({ latencyMs: 60_000 })
    const doctor = startTokenwell(['doctor'], service.environmentOf('demo'))
    await doctor.wrote('[connected]')
    doctor.child.kill('SIGINT')
    expect(await doctor.ended).toStrictEqual({ code: 130, signal: null })
    expect(doctor.written.stderr).toBe('')
  })
})

const output = async (...args: string[]) => {
  const { ended, written } = startTokenwell(args)
  expect(await ended).toMatchObject({ code: 0 })
  return written.stdout
}

it.each(['bash', 'zsh', 'fish', 'powershell'])('prints a completion script for %s', async (shell) => {
  expect(await output('completion', shell)).toMatch(/tokenwell.* complete/)
})

it('suggests commands, flags and choices', async () => {
  expect(await output('complete', '--', 'to')).toMatch(/^token\t/)
  expect(await output('complete', '--', 'doctor', '--try')).toMatch(/^--try-wrong-secret\t/)
  expect(await output('complete', '--', 'sandbox', '--form', '')).toMatch(/^products\s+refresh\s/)
})
