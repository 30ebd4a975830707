import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createFileTokenStore,
  defaultTokenFolder,
  type FileTokenStoreOptions,
} from '@tokenwell/file-token-store'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

const response = { accessToken: 'a-secret-token', tokenType: 'Bearer', scope: [] } as const
const key = (fill: number) => new Uint8Array(32).fill(fill)

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'tokenwell-files-'))))
afterEach(() => rmSync(folder, { recursive: true }))

const write = async (options?: FileTokenStoreOptions) => {
  const lease = await createFileTokenStore({ folder, ...options }).lease('cache key', 5_000)
  await lease!.write(response, 60_000)
  await lease!.release()
}
/** The file of the only entry. */
const file = () => {
  const [entry] = readdirSync(folder)
  return join(folder, entry!, readdirSync(join(folder, entry!))[0]!)
}

it.each([
  ['garbage', () => 'garbage'],
  ['an empty file', () => ''],
  ['null', () => 'null'],
  ['another document', () => '{ "token": 5, "writtenAt": 0 }'],
  ['a truncated file', (text: string) => text.slice(0, -1)],
])('reports and ignores %s', async (_name, damage) => {
  await write()
  writeFileSync(file(), damage(readFileSync(file(), 'utf8')))
  const onEvent = vi.fn()
  const store = createFileTokenStore({ folder, onEvent })
  expect(await store.read('cache key')).toBeUndefined()
  expect(onEvent.mock.calls).toStrictEqual([[{ type: 'entry_unreadable', path: join(file(), '..') }]])
  await write()
  expect(await store.read('cache key')).toMatchObject({ response })
})

it('ignores what was written before the clock was set back', async () => {
  await write()
  const { writtenAt, ...state } = JSON.parse(readFileSync(file(), 'utf8'))
  writeFileSync(file(), JSON.stringify({ ...state, writtenAt: writtenAt + 3_600_000 }))
  expect(await createFileTokenStore({ folder }).read('cache key')).toBeUndefined()
})

it('shows neither token nor cache key in an encrypted entry', async () => {
  await write({ encryptionKey: key(1) })
  const content = file() + readFileSync(file(), 'latin1')
  for (const secret of [response.accessToken, 'accessToken', 'cache key'])
    expect(content).not.toContain(secret)
})

it.each([
  ['a changed byte', (bytes: Buffer) => bytes.fill(bytes[20]! ^ 1, 20, 21)],
  ['a truncated file', (bytes: Buffer) => bytes.subarray(0, 20)],
  ['an empty file', () => Buffer.alloc(0)],
])('reports and ignores %s in an encrypted store', async (_name, damage) => {
  const onEvent = vi.fn()
  await write({ encryptionKey: key(1) })
  writeFileSync(file(), damage(readFileSync(file())))
  const store = createFileTokenStore({ folder, encryptionKey: key(1), onEvent })
  expect(await store.read('cache key')).toBeUndefined()
  expect(onEvent).toHaveBeenCalledOnce()
})

it('does not find the entries of another encryption key', async () => {
  await write({ encryptionKey: key(1) })
  expect(await createFileTokenStore({ folder, encryptionKey: key(2) }).read('cache key')).toBeUndefined()
  expect(await createFileTokenStore({ folder }).read('cache key')).toBeUndefined()
})

it.each(['short', 5, null, new Uint8Array(31)])('rejects the encryption key %j', (encryptionKey) => {
  expect(() => createFileTokenStore({ folder, encryptionKey: encryptionKey as never })).toThrow(
    /encryptionKey must be 32 bytes/,
  )
})

it('removes the files of a killed process', async () => {
  await write()
  const left = join(file(), '..', `${crypto.randomUUID()}.tmp`)
  writeFileSync(left, '')
  await write()
  expect(readdirSync(join(left, '..'))).toHaveLength(2)
  utimesSync(left, 0, 0)
  await write()
  expect(readdirSync(join(left, '..'))).toHaveLength(1)
})

it("uses the user's state directory by default", () => {
  expect(defaultTokenFolder({ XDG_STATE_HOME: '/state' })).toBe('/state/tokenwell/tokens')
  expect(defaultTokenFolder({ XDG_STATE_HOME: 'relative', HOME: '/home/me' })).toBe(
    '/home/me/.local/state/tokenwell/tokens',
  )
})
