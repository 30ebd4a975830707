import { startTokenService } from '@tokenwell/token-service'
import { startOrdersApi } from './orders-api.ts'

/** The services that the examples call. */
export interface Platform {
  /** Environment variables for an example. */
  readonly environment: Readonly<Record<string, string>>
  close(): Promise<void>
}

const application = { clientId: 'demo', clientSecret: 'demo-secret' }
const page = { clientId: 'page', clientSecret: 'page-secret', lifetimeSeconds: 300 }
const api = { clientId: 'orders-api', clientSecret: 'orders-api-secret' }

/** Starts a token service with its sandbox, and an API that accepts its tokens, on free ports of this machine. */
export async function startPlatform(): Promise<Platform> {
  const service = await startTokenService({
    sandbox: true,
    applications: [
      { name: 'demo', ...application, products: ['orders'] },
      { name: 'page', ...page },
      { name: 'acme', clientId: 'acme', clientSecret: 'acme-secret' },
      { name: 'globex', clientId: 'globex', clientSecret: 'globex-secret' },
    ],
    resourceServers: [api],
  })
  const orders = await startOrdersApi({ authUrl: service.authUrl, ...api })
  return {
    environment: {
      AUTH_URL: service.authUrl,
      SANDBOX_URL: service.sandboxUrl!,
      API_URL: orders.url,
      API_CLIENT_ID: api.clientId,
      API_CLIENT_SECRET: api.clientSecret,
      CLIENT_ID: application.clientId,
      CLIENT_SECRET: application.clientSecret,
      PAGE_CLIENT_ID: page.clientId,
      PAGE_CLIENT_SECRET: page.clientSecret,
    },
    close: async () => {
      await orders.close()
      await service.close()
    },
  }
}
