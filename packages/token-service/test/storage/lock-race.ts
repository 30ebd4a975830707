import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'

const script = fileURLToPath(new URL('lock-contestant.ts', import.meta.url))
const inPidNamespace = ['unshare', '--pid', '--fork', '--kill-child']

interface Outcome {
  readonly pid: number
  readonly isOpen: boolean
  readonly message?: string
}

/**
 * Lets three processes open the same database at the same time, and checks that one gets it. It is then killed with
 * SIGKILL and replaced, for the next race. Returns the process IDs as the processes see them.
 */
export async function raceForLock(
  file: string,
  races: number,
  { pidNamespaces = false }: { pidNamespaces?: boolean } = {},
): Promise<Set<number>> {
  const [command, ...args] = [
    ...(pidNamespaces ? inPidNamespace : []),
    process.execPath,
    '--conditions=@tokenwell/source',
    script,
  ]
  async function start(): Promise<ChildProcess> {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    await once(child, 'message')
    return child
  }
  async function kill(child: ChildProcess): Promise<void> {
    child.kill('SIGKILL')
    await once(child, 'close')
  }

  const pids = new Set<number>()
  let contestants = await Promise.all([start(), start(), start()])
  try {
    for (let race = 0; race < races; race += 1) {
      const outcomes = await Promise.all(
        contestants.map(async (child) => {
          child.send(file)
          const [outcome] = (await once(child, 'message')) as [Outcome]
          pids.add(outcome.pid)
          return outcome
        }),
      )
      const winner = outcomes.findIndex(({ isOpen }) => isOpen)
      expect(outcomes.filter(({ isOpen }) => !isOpen)).toEqual([
        expect.objectContaining({ message: expect.stringContaining('in use by another process') }),
        expect.objectContaining({ message: expect.stringContaining('in use by another process') }),
      ])
      const replaced = contestants[winner]
      if (!replaced) throw new Error('Nobody has opened the database.')
      await kill(replaced)
      contestants = contestants.with(winner, await start()) as typeof contestants
    }
  } finally {
    await Promise.all(contestants.map(kill))
  }
  return pids
}
