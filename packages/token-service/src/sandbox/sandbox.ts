import type { Clock } from '../runtime/clock.ts'
import { type FaultScript, createFaultScript } from './fault-script.ts'
import { type Journal, createJournal } from './journal.ts'

/** What tests control: injected faults, the clock that the service uses, the requests that were received. */
export interface Sandbox {
  readonly clock: MovableClock
  readonly script: FaultScript
  readonly journal: Journal
}

export function createSandbox(baseClock: Clock): Sandbox {
  return { clock: createMovableClock(baseClock), script: createFaultScript(), journal: createJournal() }
}

/** A clock that can be moved forwards and backwards, and keeps running. */
export interface MovableClock extends Clock {
  readonly offsetMs: number
  move(byMs: number): void
  reset(): void
}

function createMovableClock(base: Clock): MovableClock {
  let offsetMs = 0
  return {
    get offsetMs() {
      return offsetMs
    },
    now: () => base.now() + offsetMs,
    move(byMs) {
      offsetMs += byMs
    },
    reset() {
      offsetMs = 0
    },
  }
}
