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
} from '@tokenwell/file-token-store'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { readLatestVersion, writeNextVersion } from '../src/versioned-file.ts'

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
    Buffer.from(
      JSON.stringify({
        writtenAt: 0,
        token: {
          id: 'an-id',
          expiresAt: 4e12,
          response: {
            accessToken: 'a-token',
            tokenType: 'Bearer',
            issuedAt: '2026-03-01T12:00:00Z',
            scope: ['read'],
          },
        },
      }),
    ),
  ],
  [
    'encrypted',
    key(1),
    'ntIYLj-2vIqUuTKTTJwXPPxHqH6cY04tgA-wYwWjZQc',
    Buffer.from(
      '0NrZA4Qs9xy-5Rp_JowiQd39sI9B1wsVbA_pFVHSbddl5q_vCbEQ3gDTBavh8DY8KIFRTVcAGa-OqRhwRI01Qh8ZVAr93JJfp_4UE34vpOthzB11' +
        'aSoV23Ws8uCQwx2I2hPWCiRWnDAqC0I8HQ1_wgtsbrkXXMs20dT3x3YXu1wrEWliY1dN9vzhdwiqi5t3X7w3i2BstXs-ZMvn5uze38HcHDMry5' +
        'WXYXWQhTqcksyVko5_1E76VDaLsM0Pndxfedj6k1-lSE_ieCF7UA',
      'base64url',
    ),
  ],
])('reads the files of every other version, %s', async (_title, encryptionKey, name, content) => {
  mkdirSync(join(folder, name), { mode: 0o700 })
  writeFileSync(join(folder, name, '1'), content, { mode: 0o600 })
  expect(await createFileTokenStore({ folder, encryptionKey }).read('a cache key')).toEqual({
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
  const onEvent = vi.fn()
  for (const encryptionKey of [key(2), undefined]) {
    expect(await createFileTokenStore({ folder, encryptionKey, onEvent }).read('cache key')).toBeUndefined()
  }
  expect(onEvent).not.toHaveBeenCalled()
})

it.each(['base64', 'base64url'] as const)('accepts the encryption key in %s', async (encoding) => {
  await write({ encryptionKey: key(255) })
  const encryptionKey = Buffer.from(key(255)).toString(encoding)
  expect(await createFileTokenStore({ folder, encryptionKey }).read('cache key')).toBeDefined()
})

it.each(['short', `${Buffer.from(key(1)).toString('base64')}!`, 5, null, new Uint8Array(31)])(
  'rejects the encryption key %j',
  (encryptionKey) => {
    expect(() => createFileTokenStore({ folder, encryptionKey: encryptionKey as never })).toThrow(
      /encryptionKey must be 32 bytes/,
    )
  },
)

it('keeps a member of a response that is named like one of its own', async () => {
  const extra = { issuedAt: 'yesterday', scope: 'none' }
  const lease = await createFileTokenStore({ folder }).lease('cache key', 5_000)
  await lease!.write({ ...response, issuedAt: new Date(0), extra }, 60_000)
  expect(await createFileTokenStore({ folder }).read('cache key')).toMatchObject({
    response: { issuedAt: new Date(0), extra },
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
    await write({ encryptionKey: key(1) })
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
    await expect(createFileTokenStore({ folder }).clear()).rejects.toMatchObject({ code: 'not_private' })
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
