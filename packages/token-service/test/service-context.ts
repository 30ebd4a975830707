import type { DeveloperPortal } from '@tokenwell/token-service'

type ServiceContext = Parameters<DeveloperPortal['plugin']>[1]['service']

/** A portal without pages; `context` returns what the service passes to it. */
export function withContext(): { portal: DeveloperPortal; context: () => ServiceContext } {
  const mounted: ServiceContext[] = []
  return {
    portal: {
      plugin: async (_server, { service }) => void mounted.push(service),
      joinPath: (secret) => `/join/${secret}`,
      passwordPath: (secret) => `/password/${secret}`,
    },
    context() {
      const [context] = mounted
      if (!context) throw new Error('The portal is not mounted.')
      return context
    },
  }
}
