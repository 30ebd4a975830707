import { TokenError } from '@tokenwell/core'
import type { Provider } from '@nestjs/common'

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

/** Moves the options into a closure, because they hold secrets and logs of a dynamic module show its values. */
export function hideOptions(token: string, providers: readonly Provider[] = []): Provider[] {
  return providers.map((provider) => {
    if (!('useValue' in provider) || provider.provide !== token) return provider
    const { useValue } = provider
    return { provide: token, useFactory: () => useValue as unknown }
  })
}
