import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresIsAbsent, startPostgres, withoutPostgres } from '@tokenwell/internal-testing/postgres'
import { useCheapPasswords } from '../portal/portal-browser.ts'
import { sendHostileValues } from './hostile-values.ts'

useCheapPasswords()

const seed = Number(process.env['SEED'] ?? 20_261_128)
const most = Number(process.env['VALUES'] ?? 600)

async function expectNoHarm(storage: string) {
  const { problems, others, othersFailed } = await sendHostileValues(storage, { seed, most })
  expect(problems, `seed ${seed}`).toEqual([])
  expect([others > 10, othersFailed]).toEqual([true, 0])
}

describe('numbers, dates and texts that no database can store, or nobody expects', () => {
  it('are rejected with a reason or stored as they are, and harm no other client', () =>
    expectNoHarm('memory'))

  it.skipIf(postgresIsAbsent)(`the same on PostgreSQL (${withoutPostgres})`, async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    await expectNoHarm(await postgres.createDatabase())
  })
})
