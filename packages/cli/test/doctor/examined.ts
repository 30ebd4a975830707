import { expect } from 'vitest'
import type { Finding } from '../../src/doctor/finding.ts'
import { runTokenwell } from '../run-tokenwell.ts'

export interface Examined {
  readonly code: number
  readonly findings: readonly Finding[]
  /** Codes of what is wrong, but for slowness: a machine with other things to do is slow, too. */
  readonly faults: readonly string[]
  /** What is said about a finding, advice included. */
  readonly textOf: (code: string) => string
}

/** Runs `tokenwell doctor`, and checks what holds for everything that it says. */
export async function examined(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Examined> {
  const { code, stdout, stderr } = await runTokenwell(['doctor', '--json', ...args], env)
  expect(stderr).toBe('')
  expect(stdout).not.toContain(env['CLIENT_SECRET'])
  // As long as the service's tokens are.
  expect(stdout).not.toMatch(/[\w-]{43}/)
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  const wrong = findings.filter(({ level }) => level === 'problem' || level === 'warning')
  // Each says what to do.
  for (const { advice } of wrong) expect(advice).toMatch(/\.$/)
  expect(code).toBe(wrong.some(({ level }) => level === 'problem') ? 1 : 0)
  return {
    code,
    findings,
    faults: wrong.map((finding) => finding.code).filter((fault) => fault !== 'slow'),
    textOf: (wanted) => {
      const found = findings.find((finding) => finding.code === wanted)
      return `${found?.message} ${found?.advice}`
    },
  }
}
