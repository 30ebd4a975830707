import { TokenError } from '@tokenwell/core'

/** Adds the module and the client to the message of a configuration error. */
export function withModuleName<Result>(
  module: string,
  client: string | undefined,
  create: () => Result,
): Result {
  try {
    return create()
  } catch (error) {
    if (!(error instanceof TokenError)) throw error
    const name = client === undefined ? module : `${module} "${client}"`
    throw new TokenError({ kind: error.kind, message: `${name}: ${error.message}` })
  }
}
