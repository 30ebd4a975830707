import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('fleet-process.ts', import.meta.url))

export interface FleetRun {
  /** Until the last caller of the last process had its token. */
  readonly ms: number
  /** How many different ones they got. */
  readonly tokens: number
}

/** Starts the processes, and once all are ready lets their callers go at once. */
export async function runFleet(
  processes: number,
  settings: object,
  onReady: () => Promise<void>,
): Promise<FleetRun> {
  const children = Array.from({ length: processes }, () => fork(program, [JSON.stringify(settings)]))
  try {
    await Promise.all(children.map(nextMessage))
    await onReady()
    const runs = children.map((child) => nextMessage<{ ms: number; tokens: string[] }>(child))
    for (const child of children) child.send('go')
    const results = await Promise.all(runs)
    return {
      ms: Math.max(...results.map(({ ms }) => ms)),
      tokens: new Set(results.flatMap(({ tokens }) => tokens)).size,
    }
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

async function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  const ended = once(child, 'exit').then(() => {
    throw new Error('A process of the fleet ended')
  })
  return ((await Promise.race([once(child, 'message'), ended])) as [Message])[0]
}
