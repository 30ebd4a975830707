import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Collects garbage in a turn of its own: what a WeakRef points to lives until the end of a turn. Needs real timers. */
export async function collectGarbage(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve))
  collect()
}
