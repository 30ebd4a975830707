import type { NodeRedisClient } from '@tokenwell/token-stores/redis'

/** A client that records its calls: one entry is one round trip. */
export function recordingClient(client: NodeRedisClient) {
  const trips: { readonly command: 'eval' | 'evalSha'; readonly keys: readonly string[] }[] = []
  const recorded: NodeRedisClient = {
    get isOpen() {
      return client.isOpen
    },
    eval(script, options) {
      trips.push({ command: 'eval', keys: options.keys })
      return client.eval(script, options)
    },
    evalSha(sha1, options) {
      trips.push({ command: 'evalSha', keys: options.keys })
      return client.evalSha(sha1, options)
    },
  }
  return { client: recorded, trips }
}
