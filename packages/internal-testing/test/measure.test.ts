import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measure } from '@tokenwell/internal-testing/measure'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tokenwell-measure-'))
  vi.stubEnv('npm_lifecycle_event', 'test:integration')
  vi.stubEnv('npm_package_json', join(folder, 'package.json'))
  vi.stubEnv('TOKENWELL_SOAK', undefined)
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

const attempts = (...keptUp: boolean[]) => {
  let count = 0
  return { count: () => count, attempt: async () => ({ keptUp: keptUp[count++]!, number: count }) }
}
const report = () => readFileSync(join(folder, 'test-results/not-measured.txt'), 'utf8')

it('returns the first result that nothing disturbed', async () => {
  const { attempt, count } = attempts(false, true, true)
  expect(await measure('a fleet', attempt)).toStrictEqual({ keptUp: true, number: 2 })
  expect(count()).toBe(2)
  expect(report).toThrow('ENOENT')
})

it('reports what could not be measured in three attempts', async () => {
  const { attempt, count } = attempts(false, false, false, true)
  expect(await measure('a fleet', attempt)).toStrictEqual({ keptUp: false, number: 3 })
  expect(count()).toBe(3)
  expect(report()).toBe('not measured, because the machine was busy: a fleet\n')
})

it('fails in the nightly run', async () => {
  vi.stubEnv('TOKENWELL_SOAK', '1')
  await expect(measure('a fleet', attempts(false, false, false).attempt)).rejects.toThrow(
    'not measured, because the machine was busy: a fleet',
  )
})
