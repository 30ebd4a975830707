import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFileTokenStore } from '@tokenwell/token-stores/file'
import { describeTokenStore } from '@tokenwell/internal-testing/vitest'
import { afterAll, expect, it, onTestFinished, vi } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'tokenwell-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

describeTokenStore('the file store', () => createFileTokenStore({ folder: join(folder, 'plain') }))

const encryptionKeys = [randomBytes(32).toString('base64'), randomBytes(32)]
describeTokenStore('the encrypted file store', () =>
  createFileTokenStore({ folder: join(folder, 'encrypted'), encryptionKeys }),
)

it('returns a token until it expires', async () => {
  vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const store = createFileTokenStore({ folder: join(folder, 'expiring') })
  const lease = await store.lease('key', 5_000)
  await lease!.write({ accessToken: 'a-token', tokenType: 'Bearer', scope: [] }, 60_000)
  vi.setSystemTime(1_059_999)
  expect(await store.read('key')).toMatchObject({ remainingMs: 1 })
  vi.setSystemTime(1_060_000)
  expect(await store.read('key')).toBeUndefined()
})
