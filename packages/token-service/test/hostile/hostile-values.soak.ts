import { expect, it, onTestFinished } from 'vitest'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { postgresIsAbsent, startPostgres } from '@tokenwell/internal-testing/postgres'
import { useCheapPasswords } from '../portal/portal-browser.ts'
import { sendHostileValues } from './hostile-values.ts'

useCheapPasswords()

const table = createSoakTable()
const seed = Number(process.env['SEED'] ?? Date.now())

async function sendAll(storage: string) {
  const [kind = ''] = storage.split(':')
  await table.measure(`hostile values, ${kind}`, async () => {
    const { sent, problems, others, othersFailed } = await sendHostileValues(storage, {
      seed,
      most: Infinity,
    })
    expect(problems, `seed ${seed}`).toEqual([])
    expect(othersFailed).toBe(0)
    const figures = `seed ${seed}; ${others} token requests of another client`
    return { calls: sent, failures: problems.length, figures }
  })
}

it('every hostile value, wherever one enters: no 5xx, no effect on others', () => sendAll('memory'))

it.skipIf(postgresIsAbsent)('the same on PostgreSQL', async () => {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop())
  await sendAll(await postgres.createDatabase())
})
