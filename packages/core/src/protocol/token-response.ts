/**
 * A token response, the same for both formats of the platform's contract and for RFC 6749, section 5.1. A member
 * that is missing, null or empty in the response is absent here.
 */
export interface TokenResponse {
  /** The access token (RFC 6750): visible ASCII, valid in a header. */
  readonly accessToken: string
  /** `DPoP` for a token bound to a key (RFC 9449). */
  readonly tokenType: 'Bearer' | 'DPoP'
  /** Lifetime in seconds, counted from the request; 0 if the token has expired, absent if the server sent no number. */
  readonly expiresIn?: number | undefined
  /** Seconds after which the server recommends a refresh. */
  readonly refreshIn?: number | undefined
  /** When the token was issued, by the server's clock; never extends the lifetime. */
  readonly issuedAt?: Date | undefined
  /** Granted scopes; empty if the server sent none. */
  readonly scope: readonly string[]
  readonly clientId?: string | undefined
  readonly applicationName?: string | undefined
  readonly organizationName?: string | undefined
  readonly developerEmail?: string | undefined
  /** Approval status of the credentials, such as `approved`. */
  readonly status?: string | undefined
  readonly refreshToken?: string | undefined
  /** Seconds. */
  readonly refreshTokenExpiresIn?: number | undefined
  readonly refreshCount?: number | undefined
  /** Level of the application. */
  readonly level?: string | undefined
  /** Names of the API products that the credentials cover. */
  readonly apiProducts?: readonly string[] | undefined
  /** Members that have no separate field, such as `instance_url`; without those that are nested too deeply or too large to keep. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined
}

/** RFC 6749, appendix A.12, without leading or trailing spaces, which a header would lose. */
const accessToken = /^[!-~](?:[ -~]*[!-~])?$/
const bearerType = /^\s*(?:bearer(?:token)?)?\s*$/i
/** Some servers name the token's format here, or nothing at all. */
const jwtType = /^(?:jwt|n_?\/?a)$/i

/** Whether a value can be sent as a token. */
export function isAccessToken(value: unknown): value is string {
  return typeof value === 'string' && accessToken.test(value)
}

/** How a token is sent. Undefined if its type is not supported, and the token must not be used (RFC 6749, section 7.1). */
export function readTokenType(
  value: unknown,
  token: string,
  bearerTypes: readonly string[] = [],
): TokenResponse['tokenType'] | undefined {
  const type = value ?? ''
  if (typeof type !== 'string') return undefined
  if (bearerTypes.some((bearer) => bearer.toLowerCase() === type.trim().toLowerCase())) return 'Bearer'
  if (bearerType.test(type) || (jwtType.test(type) && jwtPayload(token))) return 'Bearer'
  return type.toLowerCase() === 'dpop' ? 'DPoP' : undefined
}

/** The unverified claims of a JWT (RFC 7519), for scheduling only. Undefined for any other token. */
export function jwtPayload(token: string): { readonly exp?: unknown; readonly iat?: unknown } | undefined {
  const [, payload, signature] = token.split('.')
  if (signature === undefined) return undefined
  try {
    const claims: unknown = JSON.parse(atob(payload!.replaceAll('-', '+').replaceAll('_', '/')))
    return typeof claims === 'object' && claims !== null ? claims : undefined
  } catch {
    return undefined
  }
}

/** Gateways send strings as numbers, and an empty one for "none". */
function readText(value: unknown): string | undefined {
  const isText = typeof value === 'string' || Number.isFinite(value)
  return isText && value !== '' ? String(value) : undefined
}

function readNumber(value: unknown): number | undefined {
  const isDecimal = typeof value === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(value)
  const number: unknown = isDecimal ? Number(value) : value
  return Number.isFinite(number) ? (number as number) : undefined
}

/** Not negative: a server that counts down to the expiry of one token passes zero. */
function readLifetime(value: unknown): number | undefined {
  const seconds = readNumber(value)
  return seconds === undefined ? undefined : Math.max(0, seconds)
}

/** Seconds, milliseconds or microseconds since 1970, distinguished by magnitude: dates from 1973 on. */
function readDate(value: unknown): Date | undefined {
  const number = readNumber(value) ?? 0
  if (number < 1e8 || number > 1e17) return undefined
  return new Date(number < 1e11 ? number * 1e3 : number < 1e14 ? number : number / 1e3)
}

/** An array, or a text with at least one name, which is split. */
function readNames(split: (text: string) => string[]) {
  return (value: unknown): readonly string[] | undefined => {
    const isList = Array.isArray(value)
    const list: unknown[] = isList ? value : typeof value === 'string' ? split(value) : []
    const names = list.flatMap((name) => (typeof name === 'string' && name.trim() ? name.trim() : []))
    return isList || names.length > 0 ? names : undefined
  }
}

const maxExtraDepth = 16
const maxExtraLength = 64 * 1024

/**
 * Members without a field, up to 64 KiB of JSON in all. They are kept with the token and written to its store, and a server may
 * send anything: members that are larger, or nested more than 16 times, are left out.
 */
function readExtra(members: readonly (readonly [string, unknown])[]): TokenResponse['extra'] {
  let left = maxExtraLength
  const kept = members.filter(([name, value]) => {
    if (isDeeperThan(maxExtraDepth, value)) return false
    const length = JSON.stringify({ [name]: value }).length
    if (length > left) return false
    left -= length
    return true
  })
  return kept.length > 0 ? Object.fromEntries(kept) : undefined
}

function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((member) => isDeeperThan(depth - 1, member))
}

/**
 * The members of a token response in both formats of the platform's contract, and in that of RFC 6749, section 5.1, and how
 * each is read: undefined if it is missing or has another form. Only `access_token` and `token_type` can make a response
 * invalid, see {@link toTokenResponse}: a token that can be used is not lost for another member.
 */
export const readers = {
  expires_in: readLifetime,
  refresh_in: readNumber,
  issued_at: readDate,
  scope: readNames((list) => list.split(' ')),
  client_id: readText,
  application_name: readText,
  organization_name: readText,
  developer_email: readText,
  'developer.email': readText,
  status: readText,
  refresh_token: readText,
  refresh_token_expires_in: readNumber,
  refresh_count: readNumber,
  level: readText,
  /** Its text is not quoted: `[a, b c]`. */
  api_product_list: readNames((list) => list.replace(/^\[|\]$/g, '').split(',')),
  api_product_list_json: readNames((list) => list.split(',')),
} satisfies Readonly<Record<string, (value: unknown) => unknown>>

/** What the readers have read. */
export type ReadMembers = { readonly [Name in keyof typeof readers]?: ReturnType<(typeof readers)[Name]> }

/** The fields that members become. */
export function toTokenResponse(
  accessToken: string,
  tokenType: TokenResponse['tokenType'],
  read: ReadMembers,
  raw: object,
): TokenResponse {
  const others = Object.entries(raw).filter(
    ([name]) => name !== 'access_token' && name !== 'token_type' && !Object.hasOwn(readers, name),
  )
  const fields: { readonly [Field in keyof Required<TokenResponse>]: TokenResponse[Field] } = {
    accessToken,
    tokenType,
    expiresIn: read.expires_in,
    refreshIn: read.refresh_in || undefined,
    issuedAt: read.issued_at,
    scope: read.scope ?? [],
    clientId: read.client_id,
    applicationName: read.application_name,
    organizationName: read.organization_name,
    developerEmail: read.developer_email ?? read['developer.email'],
    status: read.status,
    refreshToken: read.refresh_token,
    refreshTokenExpiresIn: read.refresh_token_expires_in,
    refreshCount: read.refresh_count,
    level: read.level,
    apiProducts: read.api_product_list_json ?? read.api_product_list,
    extra: readExtra(others),
  }
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present) as unknown as TokenResponse
}

/**
 * Reads the members of a token response; pure.
 *
 * @param bearerTypes further values of `token_type` whose tokens are sent as Bearer
 * @returns the name of the invalid member if the response holds no usable token
 */
export function readTokenResponse(
  raw: unknown,
  bearerTypes?: readonly string[],
): TokenResponse | 'access_token' | 'token_type' {
  const members = Object(raw) as Readonly<Record<string, unknown>>
  const accessToken = members['access_token']
  if (!isAccessToken(accessToken)) return 'access_token'
  const tokenType = readTokenType(members['token_type'], accessToken, bearerTypes)
  if (tokenType === undefined) return 'token_type'
  const read = Object.entries(readers).map(([name, reader]) => [name, reader(members[name])])
  return toTokenResponse(accessToken, tokenType, Object.fromEntries(read) as ReadMembers, members)
}
