import { createMemoryTokenStore, type TokenStore } from '@tokenwell/core'
import type { TokenLease } from '@tokenwell/core/store'

export type Behaviour = 'works' | 'fails' | 'hangs'

/** A memory store. Each operation takes its behaviour from the iterator. */
export function flakyStore(behaviours: Iterator<string>): TokenStore {
  const store = createMemoryTokenStore()
  const flaky = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const behaviour = behaviours.next().value as Behaviour
    if (behaviour === 'fails') return Promise.reject(new Error('failing'))
    return behaviour === 'hangs' ? work().then(() => new Promise<never>(() => {})) : work()
  }
  const flakyLease = (lease: TokenLease): TokenLease => ({
    write: (...of) => flaky(() => lease.write(...of)),
    writeCooldown: (...of) => flaky(() => lease.writeCooldown(...of)),
    extend: (...of) => flaky(() => lease.extend(...of)),
    release: () => flaky(() => lease.release()),
  })
  return {
    sharing: store.sharing,
    read: (key) => flaky(() => store.read(key)),
    remove: (...of) => flaky(() => store.remove(...of)),
    lease: (...of) => flaky(() => store.lease(...of).then((lease) => lease && flakyLease(lease))),
  }
}
