import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { MemberSettings, Order, OrderResult } from './fleet-member.ts'

const program = fileURLToPath(new URL('fleet-member.ts', import.meta.url))

export interface FleetMember {
  execute(order: Order): Promise<OrderResult>
  /** Pauses or resumes the process. */
  freeze(frozen: boolean): void
  /** Kills the process, as a crash would. Its orders fail. */
  kill(): Promise<void>
}

export interface Fleet extends AsyncDisposable {
  readonly members: FleetMember[]
  /**
   * Whether Redis has responded to all processes in time so far. On a busy machine it may not, and a process then
   * requests a token without it.
   */
  keptUp(): boolean
  /** Starts another process in place of a killed one. */
  replace(member: number): Promise<void>
}

/** @param settings of each member, or of all */
export async function startFleet(
  size: number,
  settings: (member: number) => Omit<MemberSettings, 'member'>,
): Promise<Fleet> {
  let slow = 0
  const start = (member: number) =>
    startMember(
      { ...settings(member), member },
      ({ events }) => (slow += events['store_unavailable slow'] ?? 0),
    )
  const members = await Promise.all(Array.from({ length: size }, (_, member) => start(member)))
  return {
    members,
    keptUp: () => slow === 0,
    async replace(member) {
      members[member] = await start(member)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(members.map((member) => member.kill()))
    },
  }
}

async function startMember(
  settings: MemberSettings,
  onResult: (result: OrderResult) => void,
): Promise<FleetMember> {
  const child: ChildProcess = fork(program, [JSON.stringify(settings)], {
    execArgv: ['--conditions=@tokenwell/source', '--disable-warning=ExperimentalWarning'],
  })
  const waiting = new Map<number, (result: OrderResult | Error) => void>()
  let orders = 0
  child.on('message', ({ id, result }: { id: number; result: OrderResult }) => waiting.get(id)?.(result))
  child.once('exit', () => {
    for (const settle of waiting.values()) settle(new Error('The process exited'))
  })
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('A fleet member did not start'))),
  ])
  return {
    execute(order) {
      const id = ++orders
      return new Promise((resolve, reject) => {
        waiting.set(id, (result) => {
          waiting.delete(id)
          if (result instanceof Error) return reject(result)
          onResult(result)
          resolve(result)
        })
        child.send({ id, order })
      })
    },
    freeze: (frozen) => void child.kill(frozen ? 'SIGSTOP' : 'SIGCONT'),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
