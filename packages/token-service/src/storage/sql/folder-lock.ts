import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { UserMistake } from '../../user-mistake.ts'

const heldHere = new Set<string>()

/** Keeps a second process from opening the same embedded database, which would ruin it. */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = `${resolve(folder)}.lock`
  const inUse = (holder: string) =>
    new UserMistake(
      `The database folder ${folder} is in use by ${holder}. Stop that one first, or use PostgreSQL to run several.`,
    )
  if (heldHere.has(path)) throw inUse('this process')
  heldHere.add(path)
  try {
    await mkdir(dirname(path), { recursive: true })
    const holder = await claim(path)
    if (holder !== undefined) throw inUse(holder)
  } catch (error) {
    heldHere.delete(path)
    throw error
  }
  return async () => {
    await rm(path, { force: true })
    heldHere.delete(path)
  }
}

/** Takes the lock, or says who holds it. */
async function claim(path: string): Promise<string | undefined> {
  for (;;) {
    try {
      await writeFile(path, `${process.pid} ${startTime(process.pid)}`, { flag: 'wx' })
      return undefined
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    const [pid = '', started] = (await readFile(path, 'utf8').catch(() => '')).split(' ')
    if (isRunning(Number(pid), started)) return `process ${pid}`
    // Its holder was killed before it could clear up.
    await rm(path, { force: true })
  }
}

function isRunning(pid: number, started: string | undefined): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false
  if (existsSync('/proc/self/stat')) return startTime(pid) !== '' && startTime(pid) === started
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Tells a process from a later one of the same number; empty if there is none, or the system does not say. */
function startTime(pid: number): string {
  try {
    // Fields after the name, which may hold anything: the state comes first, the start time 20th.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return fields[0] === 'Z' ? '' : (fields[19] ?? '')
  } catch {
    return ''
  }
}
