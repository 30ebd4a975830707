import type { TokenError } from '@tokenwell/core'

/** Details of a failed token request: `status 401, invalid_client`. */
export function failureDetails({ status, oauthError, vendorCode }: TokenError): string {
  return [status === undefined ? 'no response' : `status ${status}`, oauthError, vendorCode]
    .filter(Boolean)
    .join(', ')
}
