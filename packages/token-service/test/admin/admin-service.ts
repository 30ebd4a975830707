import type { TokenServiceOptions } from '@tokenwell/token-service'
import { serviceWithContext } from '../service-context.ts'
import type { JsonResponse } from '../test-service.ts'

const adminToken = 'administrator-token-0123456789-abcdef'

type ServiceWithContext = Awaited<ReturnType<typeof serviceWithContext>>

export interface AdministeredService extends ServiceWithContext {
  readonly token: string
  /** Sends a request to the administrators' listener. */
  readonly send: (method: string, path: string, body?: unknown) => Promise<JsonResponse>
}

/** A service with an administrators' listener that lasts as long as the test. */
export async function administeredService(options: TokenServiceOptions = {}): Promise<AdministeredService> {
  const service = await serviceWithContext({ adminPort: 0, adminToken, portal: true, ...options })
  return {
    ...service,
    token: adminToken,
    async send(method, path, body) {
      const response = await fetch(`${service.adminUrl}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${adminToken}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.startsWith('application/json')
      return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
    },
  }
}
