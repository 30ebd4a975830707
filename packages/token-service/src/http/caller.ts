import type { Caller } from '../oauth/authenticate-client.ts'
import { tokenPath } from '../oauth/endpoint-paths.ts'
import { baseUrl, type RequestAddress } from './base-url.ts'

/** Who sent a request. An assertion is for this service if it names the issuer, the token endpoint or this endpoint. */
export function callerOf(
  request: RequestAddress & { readonly ip: string },
  path: string,
  publicUrl: string | undefined,
): Caller {
  return {
    address: request.ip,
    audiences() {
      const issuer = baseUrl(request, publicUrl)
      const tokenEndpoint = `${issuer}${tokenPath}`
      return [issuer, tokenEndpoint, `${tokenEndpoint}?grant_type=client_credentials`, `${issuer}${path}`]
    },
  }
}
