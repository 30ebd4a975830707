import type { TokenError } from '@tokenwell/core'

/** Details of a failed token request, with the server's own reason: `status 401, invalid_client, "No such client."` */
export function failureDetails({ status, oauthError, vendorCode, reason }: TokenError): string {
  return [
    status === undefined ? 'no response' : `status ${status}`,
    oauthError,
    vendorCode,
    reason && `"${reason}"`,
  ]
    .filter(Boolean)
    .join(', ')
}
