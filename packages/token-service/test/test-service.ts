import { onTestFinished } from 'vitest'
import {
  startTokenService,
  type RunningTokenService,
  type TokenServiceOptions,
} from '@tokenwell/token-service'
import type { ServiceContext } from '../src/features/context.ts'
import { openService } from '../src/service/open-service.ts'
import { serve } from '../src/service/serve-token-service.ts'
import { resolveOptions } from '../src/service/service-settings.ts'

export const application = {
  name: 'speech-demo',
  clientId: 'demo-client',
  clientSecret: 'demo-secret-0123456789',
  products: ['speech-to-text', 'sms'],
  level: 'gold',
}

export const resourceServer = { clientId: 'speech-api', clientSecret: 'api-secret-0123456789' }

/** A service that lasts as long as the test. */
export async function testService(options: TokenServiceOptions = {}): Promise<RunningTokenService> {
  const service = await startTokenService({
    applications: [application],
    resourceServers: [resourceServer],
    ...options,
  })
  onTestFinished(() => service.close())
  return service
}

export interface JsonResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: any // eslint-disable-line typescript/no-explicit-any -- assertions look into it
}

export async function postForm(
  url: string,
  form: Record<string, string> | string,
  headers: Record<string, string> = {},
): Promise<JsonResponse> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

export function basic({ clientId, clientSecret }: { clientId: string; clientSecret: string }): {
  authorization: string
} {
  return { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` }
}

export const tokenPath = '/oauth/client_credential/accesstoken'

export function requestToken(authUrl: string, credentials = application): Promise<JsonResponse> {
  return postForm(`${authUrl}${tokenPath}?grant_type=client_credentials`, {
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
  })
}

export function introspect(authUrl: string, token: string): Promise<JsonResponse> {
  return postForm(`${authUrl}/oauth/introspect`, { token }, basic(resourceServer))
}

/** A service that lasts as long as the test, and what its endpoints use. */
export async function serviceWithContext(
  options: TokenServiceOptions = {},
): Promise<RunningTokenService & { readonly context: ServiceContext }> {
  const defaults = { applications: [application], resourceServers: [resourceServer] }
  const open = await openService(resolveOptions({ ...defaults, ...options }))
  const service = await serve(open)
  onTestFinished(() => service.close())
  return { ...service, context: open.context }
}

const adminToken = 'administrator-token-0123456789-abcdef'

export type ServiceWithContext = Awaited<ReturnType<typeof serviceWithContext>>

export interface AdministeredService extends ServiceWithContext {
  readonly token: string
  /** Sends a request to the administrators' listener. */
  /** `ifMatch`: the revision that is to be changed. */
  readonly send: (method: string, path: string, body?: unknown, ifMatch?: string) => Promise<JsonResponse>
}

/** A service with an administrators' listener that lasts as long as the test. */
export async function administeredService(options: TokenServiceOptions = {}): Promise<AdministeredService> {
  const service = await serviceWithContext({ adminPort: 0, adminToken, portal: true, ...options })
  return {
    ...service,
    token: adminToken,
    send: adminSender(service.adminUrl!, adminToken),
  }
}

/** Sends requests with an administrator token, and bodies as JSON. */
export function adminSender(adminUrl: string, token: string): AdministeredService['send'] {
  return async (method, path, body, ifMatch) => {
    const response = await fetch(adminUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
  }
}
