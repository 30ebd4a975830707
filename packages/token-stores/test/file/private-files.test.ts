import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFileTokenStore } from '@tokenwell/token-stores/file'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'

/** The folder of the store, that of its only entry, and the file in it. */
let paths: { folder: string; entry: string; file: string }
beforeEach(async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'tokenwell-files-')), 'tokens')
  const lease = await createFileTokenStore({ folder }).lease('key', 60_000)
  await lease!.write({ accessToken: 'a-token', tokenType: 'Bearer', scope: [] }, 60_000)
  const entry = join(folder, readdirSync(folder)[0]!)
  paths = { folder, entry, file: join(entry, readdirSync(entry)[0]!) }
})
afterEach(() => rmSync(join(paths.folder, '..'), { recursive: true }))

const replaceByLink = (path: string) => {
  renameSync(path, join(paths.folder, '../elsewhere'))
  symlinkSync(join(paths.folder, '../elsewhere'), path)
}
const replaceByFolder = (path: string) => {
  rmSync(path)
  mkdirSync(path, { mode: 0o700 })
}

it.each([
  ['a folder to which others have access', () => chmodSync(paths.folder, 0o750), 'not_private'],
  ['an entry to which others have access', () => chmodSync(paths.entry, 0o701), 'not_private'],
  ['a file to which others have access', () => chmodSync(paths.file, 0o604), 'not_private'],
  ['a link instead of the folder', () => replaceByLink(paths.folder), 'unexpected_file'],
  ['a link instead of an entry', () => replaceByLink(paths.entry), 'unexpected_file'],
  ['a link instead of a file', () => replaceByLink(paths.file), 'ELOOP'],
  ['a folder instead of a file', () => replaceByFolder(paths.file), 'unexpected_file'],
])('uses no store with %s', async (_name, change, code) => {
  change()
  const store = createFileTokenStore({ folder: paths.folder })
  await expect(store.read('key')).rejects.toMatchObject({ code, message: expect.stringMatching(/./) })
  await expect(store.lease('key', 60_000, 'fallback')).rejects.toMatchObject({ code })
})

it.each([4, 5])('reports, ignores and replaces a file of %i MiB', async (size) => {
  truncateSync(paths.file, size * 1024 ** 2)
  const onEvent = vi.fn()
  const store = createFileTokenStore({ folder: paths.folder, onEvent })
  expect(await store.read('key')).toBeUndefined()
  expect(onEvent.mock.calls).toEqual([[{ type: 'entry_unreadable', path: paths.entry }]])
  await (await store.lease('key', 60_000))!.write(
    { accessToken: 'new', tokenType: 'Bearer', scope: [] },
    60_000,
  )
  expect(await store.read('key')).toMatchObject({ response: { accessToken: 'new' } })
})

it.skipIf(process.getuid?.() !== 0).each(['folder', 'entry', 'file'] as const)(
  'uses no store with the %s of another user',
  async (part) => {
    chownSync(paths[part], 12_345, 12_345)
    const store = createFileTokenStore({ folder: paths.folder })
    await expect(store.read('key')).rejects.toMatchObject({
      code: 'foreign_file',
      message: 'The file belongs to another user',
    })
  },
)

it('does not check users and permissions where there are none, as on Windows', async () => {
  chmodSync(paths.folder, 0o777)
  const { getuid } = process
  onTestFinished(() => void Object.assign(process, { getuid }))
  Object.assign(process, { getuid: undefined })
  expect(await createFileTokenStore({ folder: paths.folder }).read('key')).toBeDefined()
})

it.skipIf(process.platform !== 'linux')('leaves no file open', async () => {
  const store = createFileTokenStore({ folder: paths.folder })
  const openFiles = () => readdirSync('/proc/self/fd').length
  const before = openFiles()
  for (let time = 0; time < 20; time++) {
    await store.read('key')
    await (await store.lease('key', 60_000))?.release()
  }
  expect(openFiles()).toBeLessThan(before + 10)
})
