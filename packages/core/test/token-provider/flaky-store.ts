import { createMemoryTokenStore, type TokenLease, type TokenStore } from '@tokenwell/core'

export type Mood = 'well' | 'failing' | 'hanging'

/** A memory store each of whose operations goes by the next mood. */
export function flakyStore(moods: Iterator<string>): TokenStore {
  const store = createMemoryTokenStore()
  const moody = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const mood = moods.next().value as Mood
    if (mood === 'failing') return Promise.reject(new Error('failing'))
    return mood === 'hanging' ? work().then(() => new Promise<never>(() => {})) : work()
  }
  const moodyLease = (lease: TokenLease): TokenLease => ({
    write: (...of) => moody(() => lease.write(...of)),
    writeCooldown: (...of) => moody(() => lease.writeCooldown(...of)),
    extend: (...of) => moody(() => lease.extend(...of)),
    release: () => moody(() => lease.release()),
  })
  return {
    sharing: store.sharing,
    read: (key) => moody(() => store.read(key)),
    remove: (...of) => moody(() => store.remove(...of)),
    lease: (...of) => moody(() => store.lease(...of).then((lease) => lease && moodyLease(lease))),
  }
}
