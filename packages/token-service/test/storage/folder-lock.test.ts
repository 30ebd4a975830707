import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lockFolder } from '../../src/storage/sql/folder-lock.ts'
import { temporaryFolder } from '../service-process.ts'

describe('the lock of a database folder', () => {
  it('is held by one until given back', async () => {
    const folder = join(temporaryFolder(), 'data')
    const unlock = await lockFolder(folder)
    await expect(lockFolder(folder)).rejects.toThrow(/in use by this process/)
    await unlock()
    expect(existsSync(`${folder}.lock`)).toBe(false)
    await (
      await lockFolder(folder)
    )()
  })

  it('is one of several that ask at once', async () => {
    const folder = join(temporaryFolder(), 'data')
    const asked = await Promise.allSettled(Array.from({ length: 10 }, () => lockFolder(folder)))
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('is taken over from a process that was killed, or from nobody', async () => {
    const folder = join(temporaryFolder(), 'data')
    const child = spawn(process.execPath, ['-e', ''])
    await once(child, 'exit')
    for (const text of [`${child.pid} 1`, '', 'nonsense', `${process.pid} 1`, '1 1']) {
      writeFileSync(`${folder}.lock`, text)
      await (
        await lockFolder(folder)
      )()
    }
  })
})
