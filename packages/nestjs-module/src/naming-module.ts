import { TokenError } from '@tokenwell/core'

/** Has a mistake in the options say which module, and which client, it was made for. */
export function namingModule<Made>(module: string, client: string | undefined, make: () => Made): Made {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof TokenError)) throw error
    const name = client === undefined ? module : `${module} '${client}'`
    throw new TokenError({ kind: error.kind, message: `${name}: ${error.message}` })
  }
}
