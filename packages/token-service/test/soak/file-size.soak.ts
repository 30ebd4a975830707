import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import { temporaryFolder } from '../service-process.ts'
import { register, token } from '../storage/storage-contract.ts'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'

const table = createSoakTable()

const tokensPerRound = 30_000
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

it('does not grow over five rounds of 30,000 tokens that are issued and purged', async () => {
  const file = join(temporaryFolder(), 'data.db')
  const storage = await openSqlite(file)
  const { secrets } = await register(storage)
  const size = () =>
    ['', '-wal'].reduce((sum, end) => sum + (existsSync(file + end) ? statSync(file + end).size : 0), 0)

  const rounds: { full: number; purged: number }[] = []
  for (let round = 1; round <= 5; round += 1) {
    await table.measure(`round ${round}`, async () => {
      await Promise.all(
        Array.from({ length: tokensPerRound }, () => storage.tokens.save(token(secrets[0], round))),
      )
      const full = size()
      expect(await storage.tokens.purge(round)).toBe(tokensPerRound)
      rounds.push({ full, purged: size() })
      const figures = `${megabytes(full)}, ${megabytes(size())} once purged`
      return { calls: tokensPerRound, failures: 0, figures }
    })
  }
  await storage.close()
  const [first, last] = [rounds[0], rounds[4]]
  expect(last?.purged).toBeLessThanOrEqual((first?.purged ?? 0) * 1.3)
  expect(last?.full).toBeLessThanOrEqual((first?.full ?? 0) * 1.3)
})
