import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { readKeyFile, readOrCreateKeyFile } from '../../src/keys/key-file.ts'

let path: string
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tokenwell-keys-'))
  path = join(folder, 'new', 'keys')
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
})

describe('a key file', () => {
  it('is made for its owner alone, with one long key, and kept from then on', async () => {
    const made = await Promise.all([readOrCreateKeyFile(path), readOrCreateKeyFile(path)])
    expect(made[0]).toEqual([expect.stringMatching(/^[\w-]{43}$/)])
    expect(await readOrCreateKeyFile(path)).toEqual(made[0])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await readFile(path, 'utf8')).toBe(`${made[0]?.[0]}\n`)
  })

  it.skipIf(process.platform === 'win32')('that others may read is refused', async () => {
    await readOrCreateKeyFile(path)
    await chmod(path, 0o640)
    await expect(readKeyFile(path)).rejects.toThrow(/chmod 600/)
  })

  it('may hold several keys, and must hold one', async () => {
    await readOrCreateKeyFile(path)
    await writeFile(path, 'first\n\n  second \n')
    expect(await readKeyFile(path)).toEqual(['first', 'second'])
    await writeFile(path, '\n')
    await expect(readKeyFile(path)).rejects.toThrow(/holds no key/)
    await rm(path)
    await expect(readKeyFile(path)).rejects.toThrow(/cannot be read/)
  })
})
