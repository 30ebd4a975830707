import { introspectionPath, jwksPath, revocationPath, tokenPath } from '../oauth/endpoint-paths.ts'
import type { Fault } from './fault-schema.ts'

const paths = {
  token: tokenPath,
  introspection: introspectionPath,
  revocation: revocationPath,
  keys: jwksPath,
}

export type ScriptedFault = Fault & { readonly id: number; remaining: number }

export interface FaultScript {
  add(fault: Fault): ScriptedFault
  /** The first fault that matches the request; counts it. */
  take(path: string, clientId: string | undefined): ScriptedFault | undefined
  /** The faults that have requests left. */
  pending(): ScriptedFault[]
  reset(): void
}

export function createFaultScript(): FaultScript {
  let faults: ScriptedFault[] = []
  let lastId = 0
  return {
    add(fault) {
      lastId += 1
      const scripted = { ...fault, id: lastId, remaining: fault.requests }
      faults.push(scripted)
      return scripted
    },
    take(path, clientId) {
      const fault = faults.find(
        (each) => paths[each.endpoint] === path && (each.clientId ?? clientId) === clientId,
      )
      if (!fault) return undefined
      fault.remaining -= 1
      if (fault.remaining === 0) faults = faults.filter((each) => each !== fault)
      return fault
    },
    pending: () => faults,
    reset() {
      faults = []
    },
  }
}
