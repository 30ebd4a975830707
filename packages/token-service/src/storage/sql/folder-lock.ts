import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { UserMistake } from '../../user-mistake.ts'

const heldHere = new Set<string>()

/** Keeps a second process from opening the same embedded database, which would ruin it. */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = `${resolve(folder)}.lock`
  await mkdir(dirname(path), { recursive: true })
  if (heldHere.has(path) || !(await claim(path))) {
    const holder = heldHere.has(path) ? 'this process' : `process ${await holderOf(path)}`
    throw new UserMistake(
      `The database folder ${folder} is in use by ${holder}. Stop that one first, or use PostgreSQL to run several.`,
    )
  }
  heldHere.add(path)
  return async () => {
    heldHere.delete(path)
    await rm(path, { force: true })
  }
}

async function claim(path: string): Promise<boolean> {
  for (;;) {
    try {
      await writeFile(path, String(process.pid), { flag: 'wx' })
      return true
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    if (isRunning(await holderOf(path))) return false
    // Its holder was killed before it could clear up.
    await rm(path, { force: true })
  }
}

async function holderOf(path: string): Promise<number> {
  return Number(await readFile(path, 'utf8').catch(() => ''))
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
