import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPglite } from '../../src/storage/sql/open-pglite.ts'
import { makeEmptyPglite } from './empty-pglite.ts'
import { describeStorage } from './storage-contract.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokenwell-pglite-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describeStorage('PGlite storage', async () => {
  await makeEmptyPglite(join(folder, 'contract'))
  return openPglite(join(folder, 'contract'))
})

it('PGlite storage is for one opener at a time, and opens again once closed', async () => {
  const path = join(folder, 'contract')
  const first = await openPglite(path)
  await expect(openPglite(path)).rejects.toThrow(/is in use by this process/)
  expect(await first.projects.list()).not.toEqual([])
  await first.close()
})
