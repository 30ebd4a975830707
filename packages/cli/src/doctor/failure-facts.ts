import type { TokenError } from '@tokenwell/core'

/** What an answer was that held no token: `status 401, invalid_client`. */
export function failureFacts({ status, oauthError, vendorCode }: TokenError): string {
  return [status === undefined ? 'no answer' : `status ${status}`, oauthError, vendorCode]
    .filter(Boolean)
    .join(', ')
}
