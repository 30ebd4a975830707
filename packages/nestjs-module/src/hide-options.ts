import type { Provider } from '@nestjs/common'

/** Moves the options into a closure, because they hold secrets and logs of a dynamic module show its values. */
export function hideOptions(token: string, providers: readonly Provider[] = []): Provider[] {
  return providers.map((provider) => {
    if (!('useValue' in provider) || provider.provide !== token) return provider
    const { useValue } = provider
    return { provide: token, useFactory: () => useValue as unknown }
  })
}
