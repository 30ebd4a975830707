import type { NodeRedisClient } from '@tokenwell/redis-token-store'

/** A client that records its calls: one entry is one round trip. */
export function recordingClient(client: NodeRedisClient) {
  const trips: { readonly command: 'eval' | 'evalSha'; readonly keys: readonly string[] }[] = []
  const recorded: NodeRedisClient = {
    get isOpen() {
      return client.isOpen
    },
    withCommandOptions(options) {
      const commands = client.withCommandOptions(options)
      return {
        eval(script, script_options) {
          trips.push({ command: 'eval', keys: script_options.keys })
          return commands.eval(script, script_options)
        },
        evalSha(sha1, script_options) {
          trips.push({ command: 'evalSha', keys: script_options.keys })
          return commands.evalSha(sha1, script_options)
        },
      }
    },
  }
  return { client: recorded, trips }
}
