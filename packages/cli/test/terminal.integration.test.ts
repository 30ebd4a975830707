import { spawnSync } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { useSandboxedService } from './sandboxed-service.ts'
import { command, startProcess } from './tokenwell-process.ts'

const service = useSandboxedService()
const absent = spawnSync('script', ['--version']).error !== undefined

/** `script` runs it in a terminal and prints what the terminal shows. */
function onTerminal(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const line = [...command, ...args].map((word) => `'${word}'`).join(' ')
  return startProcess(['script', '-qec', `stty cols 80; ${line}`, '/dev/null'], { TERM: 'xterm', ...env })
}

describe.skipIf(absent)(`on a terminal${absent ? ' (install script, of the package bsdutils)' : ''}`, () => {
  it('prompts for missing credentials and does not show the secret', async () => {
    const { AUTH_URL: url, CLIENT_SECRET: typed } = service.environmentOf('demo')
    const { child, written, wrote, ended } = onTerminal(['token'], { AUTH_URL: url! })
    await wrote('Client ID: ')
    child.stdin?.write('demo\r')
    await wrote('Client secret: ')
    child.stdin?.write(`${typed}\r`)
    expect((await ended).code).toBe(0)
    expect(written.stdout).toMatch(/Client secret: \r?\n[\w-]{40,}\r?\n$/)
    expect(written.stdout).not.toContain(typed)
  })

  it('says which of the typed credentials to check', async () => {
    const { AUTH_URL: url } = service.environmentOf('demo')
    const { child, written, wrote, ended } = onTerminal(['doctor'], { AUTH_URL: url! })
    await wrote('Client ID: ')
    child.stdin?.write('demo\r')
    await wrote('Client secret: ')
    child.stdin?.write('canary-wrong\r')
    expect((await ended).code).not.toBe(0)
    expect(stripVTControlCharacters(written.stdout).replaceAll(/\s+/g, ' ')).toContain(
      'Check the client ID that you typed and the client secret that you typed.',
    )
  })

  it.each([
    ['Ctrl+C', '\u0003'],
    ['Ctrl+D', '\u0004'],
  ])('exits on %s', async (_name, key) => {
    const { AUTH_URL: url } = service.environmentOf('demo')
    const { child, written, wrote, ended } = onTerminal(['token'], { AUTH_URL: url!, CLIENT_ID: 'demo' })
    await wrote('Client secret: ')
    child.stdin?.write(key)
    expect((await ended).code).toBe(130)
    const shown = stripVTControlCharacters(written.stdout).replaceAll('\r', '')
    expect(shown).toBe('Client secret: \ntokenwell: Interrupted.\n')
  })

  it('breaks the lines of errors and warnings between words', async () => {
    const { written, ended } = onTerminal([
      'token',
      '--client-secret',
      'x',
      '--client-id',
      'x',
      '--issuer',
      'https://a.test',
      '--parameter',
      'x',
    ])
    expect((await ended).code).toBe(2)
    const missing = onTerminal(['token', '--grant', 'jwt-bearer'])
    expect((await missing.ended).code).toBe(2)
    for (const { stdout } of [written, missing.written]) {
      const lines = stripVTControlCharacters(stdout).trimEnd().split(/\r?\n/)
      expect(lines.length).toBeGreaterThan(2)
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
      // No word is lost or cut.
      expect(lines.map((line) => line.trim()).join(' ')).toMatch(
        /(?:read --client-secret in the process list, and your shell history|requires\.$)/,
      )
    }
  })

  it('prints the findings of doctor in colour, within its width', async () => {
    const { written, ended } = onTerminal(['doctor'], service.environmentOf('demo'))
    expect((await ended).code).toBe(0)
    expect(written.stdout).toContain('\u001b[32m✓')
    const lines = stripVTControlCharacters(written.stdout).split(/\r?\n/)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
    expect(lines).toContainEqual(expect.stringMatching(/^✓ network {6}Connected to 127\.0\.0\.1:\d+/))
    expect(lines).toContainEqual(expect.stringMatching(/^ {4}response +━+ [\d.]+ m?s$/))
    expect(lines).toContain('               → Add --try-wrong-secret if that is acceptable.')
  })

  it('prints without colour if NO_COLOR is set', async () => {
    const env = { ...service.environmentOf('demo'), NO_COLOR: '1' }
    const { written, ended } = onTerminal(['doctor'], env)
    expect((await ended).code).toBe(0)
    expect(written.stdout).toContain('✓ network')
    expect(written.stdout).not.toContain('\u001b')
  })
})
