import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createFileTokenStore } from '@tokenwell/token-stores/file'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

let folder: string
beforeEach(() => void (folder = join(mkdtempSync(join(tmpdir(), 'tokenwell-files-')), 'tokens')))
afterEach(() => rmSync(join(folder, '..'), { recursive: true }))

const contender = new URL('lease-contender.ts', import.meta.url)
const holderOfLease = new URL('lease-holder.ts', import.meta.url)
const start = (program: URL, ...args: readonly string[]) =>
  fork(fileURLToPath(program), args, {
    execArgv: ['--conditions=@tokenwell/source', '--disable-warning=ExperimentalWarning'],
  })

it('grants a lease to one of 6 competing processes at a time', async () => {
  const processes = Array.from({ length: 6 }, () => start(contender, folder, 'key', '25'))
  const exits = await Promise.all(processes.map((process) => once(process, 'exit')))
  expect(exits.map(([code]) => code)).toStrictEqual(processes.map(() => 0))
  const store = createFileTokenStore({ folder })
  expect(await store.read('key')).toMatchObject({ response: { accessToken: expect.stringMatching(/-24$/) } })
  const [entry] = readdirSync(folder)
  expect(readdirSync(join(folder, entry!))).toHaveLength(1)
})

it('grants the lease of a killed process again when it expires', async () => {
  const store = createFileTokenStore({ folder })
  const started = performance.now()
  const holder = start(holderOfLease, folder, 'key', '1500')
  expect(await once(holder, 'message')).toStrictEqual([true, undefined])
  expect(await store.lease('key', 1_500)).toBeUndefined()
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  expect(await vi.waitUntil(() => store.lease('key', 1_500), 20_000)).toBeDefined()
  expect(performance.now() - started).toBeGreaterThan(1_400)
})
