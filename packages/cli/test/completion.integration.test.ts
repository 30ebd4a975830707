import { expect, it } from 'vitest'
import { startTokenwell } from './tokenwell-process.ts'

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
