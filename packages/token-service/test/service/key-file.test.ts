import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { readKeyFile, readOrCreateKeyFile } from '../../src/service/key-file.ts'

let database: string
let path: string
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tokenwell-keys-'))
  database = join(folder, 'new', 'data.db')
  path = `${database}.keys`
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
})

describe('a key file', () => {
  it('is created with one long key, accessible only to its owner', async () => {
    // By processes that start at the same time.
    const made = await Promise.all(Array.from({ length: 20 }, () => readOrCreateKeyFile(database)))
    expect(made[0]).toEqual([expect.stringMatching(/^[\w-]{43}$/)])
    expect(made).toEqual(made.map(() => made[0]))
    expect(await readdir(dirname(path))).toEqual(['data.db.keys'])
    expect(await readOrCreateKeyFile(database)).toEqual(made[0])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await readFile(path, 'utf8')).toBe(`${made[0]?.[0]}\n`)
  })

  it('that cannot be created is reported', async () => {
    await expect(readOrCreateKeyFile(`${database}${'x'.repeat(300)}`)).rejects.toThrow(
      /^Could not create the key file .+x\.keys \(ENAMETOOLONG\)\.$/,
    )
  })

  it('that is missing beside a database is not created: its secrets need the keys that they were hashed with', async () => {
    await readOrCreateKeyFile(database)
    await rm(path)
    await writeFile(database, 'a restored database')
    await expect(readOrCreateKeyFile(database)).rejects.toThrow(
      `The key file ${path} is missing, and the secrets in ${database} were hashed with its keys. Copy it from your backup of the keys.`,
    )
    expect(await readdir(dirname(path))).toEqual(['data.db'])
  })

  it.skipIf(process.platform === 'win32')('is rejected if other users can read it', async () => {
    await readOrCreateKeyFile(database)
    await chmod(path, 0o640)
    await expect(readKeyFile(path)).rejects.toThrow(/chmod 600/)
  })

  it('is accepted on Windows, which has no such permissions', async () => {
    await readOrCreateKeyFile(database)
    await chmod(path, 0o640)
    const platform = Object.getOwnPropertyDescriptor(process, 'platform')!
    Object.defineProperty(process, 'platform', { ...platform, value: 'win32' })
    onTestFinished(() => void Object.defineProperty(process, 'platform', platform))
    expect(await readKeyFile(path)).toHaveLength(1)
  })

  it('contains one key or more', async () => {
    await readOrCreateKeyFile(database)
    await writeFile(path, 'first\n\n  second \n')
    expect(await readKeyFile(path)).toEqual(['first', 'second'])
    await writeFile(path, '\n')
    await expect(readKeyFile(path)).rejects.toThrow(/is empty/)
    await rm(path)
    await expect(readKeyFile(path)).rejects.toThrow(/Could not read/)
  })
})
