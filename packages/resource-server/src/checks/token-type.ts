import { oneOf, rejectionReason, type RejectionReason } from '../http/rejection-reason.ts'

/** The `typ` of access tokens, or several; false for an issuer that sets none. */
export type AcceptedType = string | readonly string[] | false

/** Claims that only other kinds of tokens have: ID tokens, logout tokens and security events, introspection responses. */
const claimsOfOthers = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events', 'token_introspection']
/** Claims that say what kind a token is: of Cognito, and of Keycloak. */
const kindsOfOthers: Readonly<Record<string, readonly unknown[]>> = {
  token_use: ['id', 'refresh'],
  typ: ['ID', 'Refresh', 'Offline', 'Logout'],
}

/** Why a JWT is not an access token. The type says so, or claims where the type says nothing (RFC 8725, section 3.11). */
export function findOtherType(
  typ: unknown,
  claims: Readonly<Record<string, unknown>>,
  accepted: AcceptedType,
): RejectionReason | undefined {
  const types = accepted === false ? [undefined, 'JWT', 'at+jwt'] : [accepted].flat()
  const type = mediaType(typ)
  if (!types.some((each) => mediaType(each) === type)) {
    const expected = accepted === false ? 'no typ, JWT or at+jwt' : oneOf(types)
    return rejectionReason('typ', typ, expected, accepted === 'at+jwt' ? 'typ' : 'otherTyp')
  }
  if (!isAnyType(typ)) return undefined
  const found =
    claimsOfOthers.find((claim) => Object.hasOwn(claims, claim)) ??
    Object.keys(kindsOfOthers).find((claim) => kindsOfOthers[claim]!.includes(claims[claim]))
  return found === undefined
    ? undefined
    : rejectionReason(found, claims[found], 'an access token, which does not have it', 'idToken')
}

/** Whether tokens of all kinds have this `typ`: those that state no kind. */
export function isAnyType(typ: unknown): boolean {
  return typ === undefined || typ === false || mediaType(typ) === 'application/jwt'
}

/** RFC 7515, section 4.1.9. */
function mediaType(typ: unknown): unknown {
  if (typeof typ !== 'string') return typ
  return (typ.includes('/') ? typ : `application/${typ}`).toLowerCase()
}
