import { startTokenService, type RunningTokenService } from '@tokenwell/token-service'
import { afterAll, afterEach, beforeAll } from 'vitest'

const secret = 'canary-secret-0123456789'
const application = { name: 'demo', clientId: 'demo', clientSecret: secret, products: ['speech-to-text'] }

/** The real token service with several applications. It is reset after each test. */
export interface SandboxedService extends RunningTokenService {
  /** The environment for one of its applications. */
  environmentOf(clientId: string): Record<string, string>
  /** Makes the next request fail. */
  fault(fault: object): Promise<void>
  /** Advances its clock. */
  advance(seconds: number): Promise<void>
  /** The requests so far. */
  journal(): Promise<{ total: number; counts: { client: Record<string, number> } }>
}

export function useSandboxedService(): SandboxedService {
  const service = {} as SandboxedService
  const post = async (path: string, body: object): Promise<void> => {
    const response = await fetch(`${service.sandboxUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(await response.text())
  }
  beforeAll(async () => {
    const running = await startTokenService({
      sandbox: true,
      applications: [
        application,
        { ...application, clientId: 'refreshed', responseForm: 'refresh' },
        { ...application, clientId: 'pending', status: 'pending' },
        { ...application, clientId: 'expired', clientSecretExpiresAt: '2020-01-01T00:00:00Z' },
        { ...application, clientId: 'long-lived', lifetimeSeconds: 3_600_000 },
        { ...application, clientId: 'short-lived', lifetimeSeconds: 90 },
      ],
    })
    Object.assign(service, running, {
      environmentOf: (clientId: string) => ({
        AUTH_URL: running.authUrl,
        CLIENT_ID: clientId,
        CLIENT_SECRET: secret,
      }),
      fault: (fault: object) => post('/faults', fault),
      advance: (advanceSeconds: number) => post('/clock', { advanceSeconds }),
      journal: async () => (await fetch(`${service.sandboxUrl}/journal`)).json(),
    })
  })
  afterEach(() => post('/reset', {}))
  afterAll(() => service.close())
  return service
}
