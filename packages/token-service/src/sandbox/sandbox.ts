import type { Clock } from '../runtime/clock.ts'
import { createFaultScript, type FaultScript } from './fault-script.ts'
import { createJournal, type Journal } from './journal.ts'
import { createMovableClock, type MovableClock } from './movable-clock.ts'

/** What tests control: injected faults, the clock that the service uses, the requests that were received. */
export interface Sandbox {
  readonly clock: MovableClock
  readonly script: FaultScript
  readonly journal: Journal
}

export function createSandbox(baseClock: Clock): Sandbox {
  return { clock: createMovableClock(baseClock), script: createFaultScript(), journal: createJournal() }
}
