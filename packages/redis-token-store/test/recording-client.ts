import type { RedisTokenStoreClient } from '@tokenwell/redis-token-store'

/** A client that writes down what passes through it: one entry is one round trip. */
export function recordingClient(client: RedisTokenStoreClient) {
  const trips: { readonly command: 'eval' | 'evalSha'; readonly keys: readonly string[] }[] = []
  const recorded: RedisTokenStoreClient = {
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
