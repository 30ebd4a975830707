/**
 * Codes that stores report and servers respond with. Anything else is `other`: servers and clients determine codes, so
 * that they are unbounded, and may contain a client ID.
 */
const storeCauses = new Set(
  // Of core and the stores of this project.
  (
    'slow not_connected bad_reply not_private foreign_file unexpected_file ' +
    // Of Redis.
    'READONLY NOREPLICAS CLUSTERDOWN MASTERDOWN LOADING BUSY OOM MISCONF TRYAGAIN MOVED ASK CROSSSLOT WRONGTYPE NOPERM ' +
    'NOAUTH WRONGPASS NOSCRIPT ERR ' +
    // Of PostgreSQL: connections, permissions, resources, shutdown, objects.
    '08000 08001 08003 08004 08006 25006 25P02 28000 28P01 3D000 40001 40P01 42501 42P01 53000 53100 53200 53300 55P03 ' +
    '57014 57P01 57P02 57P03 58030 ' +
    // Of the operating system and Node.
    'EACCES EPERM ENOENT ENOSPC EDQUOT EROFS EIO EMFILE ENFILE EFBIG ELOOP EEXIST ENOTDIR ECONNREFUSED ECONNRESET ' +
    'ENOTFOUND EAI_AGAIN ETIMEDOUT EPIPE EHOSTUNREACH ENETUNREACH ' +
    // Names of errors.
    'Error TypeError RangeError AbortError TimeoutError'
  ).split(' '),
)

/** RFC 6749 section 5.2, RFC 6750, RFC 7009, RFC 8628, RFC 8693, RFC 8707, RFC 9449 and OpenID Connect. */
const oauthErrors = new Set(
  (
    'invalid_request invalid_client invalid_grant unauthorized_client unsupported_grant_type invalid_scope access_denied ' +
    'server_error temporarily_unavailable invalid_token insufficient_scope unsupported_token_type authorization_pending ' +
    'slow_down expired_token invalid_target invalid_dpop_proof use_dpop_nonce interaction_required login_required ' +
    'consent_required'
  ).split(' '),
)

export function knownStoreCause(cause: string): string {
  return storeCauses.has(cause) ? cause : 'other'
}

export function knownOAuthError(code: string): string {
  return oauthErrors.has(code) ? code : 'other'
}

/** The first parts of the codes of Apigee's faults, which are too many to list. */
const vendorCode =
  /^(oauth|policies|messaging|steps|keymanagement|security|protocol|flow|http|system|entitlement)\.[\w.]+$/

export function knownVendorCode(code: string): string {
  return vendorCode.test(code) ? code : 'other'
}
