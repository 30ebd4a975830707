/** A client already has as many recordings in progress as it may have at the moment. */
export class ShareExceededError extends Error {
  override readonly name = 'ShareExceededError'
  /** Number of recordings that the client has in progress. */
  readonly active: number

  constructor(active: number) {
    super(
      `You have ${active} ${active === 1 ? 'recording' : 'recordings'} in progress, which is the current maximum.`,
    )
    this.active = active
  }
}

/** Divides a limited number of places between clients. */
export interface FairShare {
  /** Number of places in use. */
  readonly active: number
  /**
   * Takes a place for a client, unless it already has as many as are free: a single client leaves half of the places to
   * others, and clients that compete end up with equal shares.
   *
   * @param free the number of free places
   * @returns a function that frees the place
   * @throws {ShareExceededError}
   */
  take(client: string, free: number): () => void
}

export function createFairShare(): FairShare {
  const byClient = new Map<string, number>()
  let active = 0
  const change = (client: string, by: number) => {
    active += by
    const own = (byClient.get(client) ?? 0) + by
    if (own > 0) byClient.set(client, own)
    else byClient.delete(client)
  }
  return {
    get active() {
      return active
    },
    take(client, free) {
      const own = byClient.get(client) ?? 0
      if (own >= free) throw new ShareExceededError(own)
      change(client, 1)
      let taken = true
      return () => {
        if (taken) change(client, -1)
        taken = false
      }
    },
  }
}
