import fs, {
  chmodSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createFileTokenStore,
  defaultTokenFolder,
  type FileTokenStoreOptions,
} from '@tokenwell/token-stores/file'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { readLatestVersion, writeNextVersion } from '../../src/file/versioned-file.ts'

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
  ['a document without its time', (text: string) => text.replace(/"writtenAt":\d+,/, '')],
  ['a document with an invalid member', (text: string) => text.replace('{', '{ "cooldown": 5,')],
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

it.each([
  [
    'throws',
    (): unknown => {
      throw new Error('error of the listener')
    },
  ],
  ['rejects', (): unknown => Promise.reject(new Error('error of the listener'))],
])('reads a damaged entry despite a listener that %s', async (_how, onEvent) => {
  await write()
  writeFileSync(file(), 'garbage')
  expect(await createFileTokenStore({ folder, onEvent }).read('cache key')).toBeUndefined()
})

// A change of names or content would lose tokens when some programs of a user have been upgraded.
it.each([
  [
    'in plain text',
    undefined,
    'y6WKHEI8r5kna6U2lqzOOhSooy0AgtOh7MEodu_yp7Q',
    'an-id.4000000000000.{"access_token":"a-token","token_type":"Bearer","issued_at":1772366400000,"scope":["read"]}',
  ],
  [
    'encrypted',
    [key(1)],
    'Xpsg3ReD.m8QtscVEXbL4eghTExaeA7LCMEFwHcpcV8HtyMUI4qQ',
    'an-id.4000000000000.Iubm7pBkDOrc51MreCdCua2olUGfBRZULUAF6YCQpi3XDcVl6KLhBedEc4UbCrc-liCsswgLLkzlze9JAeYNXBbS-YZIKyTZ' +
      'DrUiTU0C5h4SYyVIL4xvKlQZvK4JpikH7OuUp_3OCLEJ0oXsACu-LxptLB-0t_g',
  ],
])('reads the files of every other version, %s', async (_title, encryptionKeys, name, token) => {
  mkdirSync(join(folder, name), { mode: 0o700 })
  const state = { writtenAt: 0, machine: 'another', upMs: 0, token }
  writeFileSync(join(folder, name, '1'), JSON.stringify(state), { mode: 0o600 })
  expect(await createFileTokenStore({ folder, encryptionKeys }).read('a cache key')).toEqual({
    id: 'an-id',
    remainingMs: expect.any(Number),
    response: {
      accessToken: 'a-token',
      tokenType: 'Bearer',
      issuedAt: new Date('2026-03-01T12:00:00Z'),
      scope: ['read'],
    },
  })
})

it.each([
  ['lease', undefined],
  ['fallback', 'fallback'],
] as const)('respects a lease of every other version: %s', async (name, slot) => {
  await write()
  const lease = { holderId: 'other', since: 0, expiresAt: 4e12 }
  writeFileSync(file(), JSON.stringify({ writtenAt: 0, [name]: lease }))
  const store = createFileTokenStore({ folder })
  expect(await store.lease('cache key', 5_000, slot)).toBeUndefined()
  expect(await store.lease('cache key', 5_000, slot ? undefined : 'fallback')).toBeDefined()
})

it('ignores what was written before the clock was set back', async () => {
  await write()
  const { writtenAt, ...state } = JSON.parse(readFileSync(file(), 'utf8'))
  writeFileSync(file(), JSON.stringify({ ...state, writtenAt: writtenAt + 3_600_000 }))
  expect(await createFileTokenStore({ folder }).read('cache key')).toBeUndefined()
})

it('ignores a token that was stored while the clock was fast, also once the correct time has caught up', async () => {
  const anHourLater = Date.now() + 3_600_000
  vi.useFakeTimers({ now: anHourLater, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  await write()
  expect(await createFileTokenStore({ folder }).read('cache key')).toMatchObject({ response })
  const { upMs, ...state } = JSON.parse(readFileSync(file(), 'utf8'))
  writeFileSync(file(), JSON.stringify({ ...state, upMs: upMs - 3_600_000 }))
  expect(await createFileTokenStore({ folder }).read('cache key')).toBeUndefined()
})

it('ignores how long another machine has been up', async () => {
  await write()
  const state = JSON.parse(readFileSync(file(), 'utf8'))
  writeFileSync(file(), JSON.stringify({ ...state, machine: 'another', upMs: -3_600_000 }))
  expect(await createFileTokenStore({ folder }).read('cache key')).toMatchObject({ response })
})

it('reads with an older encryption key during a rotation, and removes with it', async () => {
  await write({ encryptionKeys: [key(1)] })
  const store = createFileTokenStore({ folder, encryptionKeys: [key(2), key(1)] })
  const stored = (await store.read('cache key')) as { id: string }
  expect(stored).toMatchObject({ response })
  await store.remove('cache key', stored.id)
  expect(await createFileTokenStore({ folder, encryptionKeys: [key(1)] }).read('cache key')).toBeUndefined()
})

it('shows neither token nor cache key in an encrypted entry', async () => {
  await write({ encryptionKeys: [key(1)] })
  const content = file() + readFileSync(file(), 'latin1')
  for (const secret of [response.accessToken, 'accessToken', 'cache key'])
    expect(content).not.toContain(secret)
})

it.each([
  [
    'a changed byte',
    (bytes: Buffer) => Buffer.from(bytes.toString().replace(/(?<="token":"[^"]+)x?"/, 'x"')),
  ],
  ['a truncated file', (bytes: Buffer) => bytes.subarray(0, 20)],
  ['an empty file', () => Buffer.alloc(0)],
])('reports and ignores %s in an encrypted store', async (_name, damage) => {
  const onEvent = vi.fn()
  await write({ encryptionKeys: [key(1)] })
  writeFileSync(file(), damage(readFileSync(file())))
  const store = createFileTokenStore({ folder, encryptionKeys: [key(1)], onEvent })
  expect(await store.read('cache key')).toBeUndefined()
  expect(onEvent).toHaveBeenCalledOnce()
})

it('does not find the entries of another encryption key', async () => {
  await write({ encryptionKeys: [key(1)] })
  const onEvent = vi.fn()
  for (const encryptionKeys of [[key(2)], undefined]) {
    expect(await createFileTokenStore({ folder, encryptionKeys, onEvent }).read('cache key')).toBeUndefined()
  }
  expect(onEvent).not.toHaveBeenCalled()
})

it.each(['base64', 'base64url'] as const)('accepts the encryption key in %s', async (encoding) => {
  await write({ encryptionKeys: [key(255)] })
  const encryptionKeys = [Buffer.from(key(255)).toString(encoding)]
  expect(await createFileTokenStore({ folder, encryptionKeys }).read('cache key')).toBeDefined()
})

it.each(['short', `${Buffer.from(key(1)).toString('base64')}!`, 5, null, new Uint8Array(31)])(
  'rejects the encryption key %j',
  (encryptionKey) => {
    const encryptionKeys = [key(1), encryptionKey as never]
    expect(() => createFileTokenStore({ folder, encryptionKeys })).toThrow(
      /encryptionKeys\[1\] must be 32 bytes/,
    )
  },
)

it('keeps a member of a response that is named like one of its own', async () => {
  const extra = { issuedAt: 'yesterday', accessToken: 'none' }
  const lease = await createFileTokenStore({ folder }).lease('cache key', 5_000)
  await lease!.write({ ...response, issuedAt: new Date(1e12), extra }, 60_000)
  expect(await createFileTokenStore({ folder }).read('cache key')).toMatchObject({
    response: { issuedAt: new Date(1e12), extra },
  })
})

it('writes nothing after a version that others have replaced in the meantime', () => {
  const entry = join(folder, 'entry')
  for (const number of [0, 1, 2, 3]) expect(writeNextVersion(entry, number, Buffer.from('x'))).toBe(true)
  expect(writeNextVersion(entry, 3, Buffer.from('y'))).toBe(false)
  expect(writeNextVersion(entry, 1, Buffer.from('y'))).toBe(false)
  expect(readdirSync(entry)).toStrictEqual(['4'])
})

function watch<Name extends 'fsyncSync' | 'readdirSync'>(name: Name) {
  const spy = vi.spyOn(fs, name)
  syncBuiltinESMExports()
  onTestFinished(() => {
    spy.mockRestore()
    syncBuiltinESMExports()
  })
  return spy
}

it('writes a version while another process removes its temporary file', () => {
  const entry = join(folder, 'entry')
  const removed = `${crypto.randomUUID()}.tmp`
  const list = watch('readdirSync').mockReturnValueOnce(['1', removed] as never)
  expect(writeNextVersion(entry, 0, Buffer.from('x'))).toBe(true)
  expect(list).toHaveBeenCalledOnce()
})

it('writes a version while another process removes the version before', () => {
  const entry = join(folder, 'entry')
  writeNextVersion(entry, 0, Buffer.from('x'))
  watch('readdirSync').mockImplementationOnce(() => {
    rmSync(join(entry, '1'))
    return ['1', '2'] as never
  })
  expect(writeNextVersion(entry, 1, Buffer.from('y'))).toBe(true)
})

it('reads the next version if another process has replaced the latest one in the meantime', () => {
  const entry = join(folder, 'entry')
  for (const number of [0, 1]) writeNextVersion(entry, number, Buffer.from('x'))
  watch('readdirSync').mockReturnValueOnce(['1'] as never)
  expect(readLatestVersion(entry)).toEqual({ number: 2, content: Buffer.from('x') })
})

it('flushes the file of a version, then its folder', () => {
  const flushed: string[] = []
  const flush = watch('fsyncSync')
  flush.mockImplementation((file) => void flushed.push(fstatSync(file).isDirectory() ? 'folder' : 'file'))
  writeNextVersion(join(folder, 'entry'), 0, Buffer.from('x'))
  expect(flushed).toEqual(['file', 'folder'])
})

it('reads and replaces an entry of which a killed process has created only the folder', async () => {
  await write()
  rmSync(file())
  const store = createFileTokenStore({ folder })
  expect(await store.read('cache key')).toBeUndefined()
  await write()
  expect(await store.read('cache key')).toMatchObject({ response })
})

it('creates no folder to read or remove', async () => {
  const store = createFileTokenStore({ folder: join(folder, 'missing') })
  expect(await store.read('cache key')).toBeUndefined()
  await store.remove('cache key', 'id')
  await store.clear()
  expect(readdirSync(folder)).toStrictEqual([])
})

describe('clear', () => {
  it('removes all entries, with the files of killed processes', async () => {
    await write()
    await write({ encryptionKeys: [key(1)] })
    writeFileSync(join(file(), '..', `${crypto.randomUUID()}.tmp`), '')
    await createFileTokenStore({ folder }).clear()
    expect(readdirSync(folder)).toStrictEqual([])
  })

  it('removes nothing else', async () => {
    await write()
    const entry = join(file(), '..')
    const notes = ['notes.tmp', `${crypto.randomUUID()}.tmp~`, `my-${crypto.randomUUID()}.tmp`, 'v1']
    const kept = [...notes.map((name) => join(entry, name)), join(folder, 'a'.repeat(43)), join(folder, '1')]
    for (const path of kept) writeFileSync(path, '')
    for (const length of [42, 44]) {
      const other = join(folder, 'b'.repeat(length))
      mkdirSync(other, { mode: 0o700 })
      kept.push(join(other, '1'))
      writeFileSync(kept.at(-1)!, '')
    }
    await createFileTokenStore({ folder }).clear()
    expect(kept.filter((path) => !existsSync(path))).toStrictEqual([])
    expect(readdirSync(entry).toSorted()).toStrictEqual(notes.toSorted())
  })

  it('uses no folder to which others have access', async () => {
    await write()
    const entry = join(file(), '..')
    chmodSync(entry, 0o750)
    await write({ encryptionKeys: [key(1)] })
    await expect(createFileTokenStore({ folder }).clear()).rejects.toMatchObject({ code: 'not_private' })
    // The other entries are removed nevertheless.
    expect(readdirSync(folder)).toHaveLength(1)
    chmodSync(entry, 0o700)
    chmodSync(folder, 0o750)
    await expect(createFileTokenStore({ folder }).clear()).rejects.toMatchObject({ code: 'not_private' })
    expect(readdirSync(entry)).toHaveLength(1)
  })
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
  expect(defaultTokenFolder({})).toBe(join(homedir(), '.local/state/tokenwell/tokens'))
  expect(defaultTokenFolder({ XDG_STATE_HOME: 'relative', HOME: '/home/me' })).toBe(
    '/home/me/.local/state/tokenwell/tokens',
  )
})
