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
  /** Members that have no separate field, such as `instance_url`. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined
}

// A token is used only if these two members are valid; the others are read as far as possible.
/** RFC 6749, appendix A.12, without leading or trailing spaces, which a header would lose. */
const accessToken = /^[!-~](?:[ -~]*[!-~])?$/
/** RFC 6749, section 7.1: a token of an unknown type must not be used. */
const bearerType = /^\s*(?:bearer(?:token)?)?\s*$/i
/** Some servers name the token's format here, or nothing at all. */
const jwtType = /^(?:jwt|n_?\/?a)$/i

/** Whether a value can be sent as a token. */
export function isAccessToken(value: unknown): value is string {
  return typeof value === 'string' && accessToken.test(value)
}

function readTokenType(
  value: unknown,
  token: string,
  bearerTypes: readonly string[] | undefined,
): TokenResponse['tokenType'] | undefined {
  const type = value ?? ''
  if (typeof type !== 'string') return undefined
  if (bearerTypes?.some((bearer) => bearer.toLowerCase() === type.trim().toLowerCase())) return 'Bearer'
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

const knownMembers = new Set([
  'access_token',
  'token_type',
  'expires_in',
  'refresh_in',
  'issued_at',
  'scope',
  'client_id',
  'application_name',
  'organization_name',
  'developer_email',
  'developer.email',
  'status',
  'refresh_token',
  'refresh_token_expires_in',
  'refresh_count',
  'level',
  'api_product_list',
  'api_product_list_json',
])

/** The members of a response that decide whether its token can be used, and for how long. */
export type Token = Pick<TokenResponse, 'accessToken' | 'tokenType' | 'expiresIn' | 'refreshIn'>

/** @returns the name of the invalid member if the response holds no usable token */
export function readToken(
  raw: Readonly<Record<string, unknown>>,
  bearerTypes?: readonly string[],
): Token | 'access_token' | 'token_type' {
  const accessToken = raw.access_token
  if (!isAccessToken(accessToken)) return 'access_token'
  const tokenType = readTokenType(raw.token_type, accessToken, bearerTypes)
  if (tokenType === undefined) return 'token_type'
  return {
    accessToken,
    tokenType,
    expiresIn: lifetime(raw.expires_in),
    refreshIn: number(raw.refresh_in) || undefined,
  }
}

/**
 * Reads the members of a token response; pure.
 *
 * @param bearerTypes further values of `token_type` whose tokens are sent as Bearer
 * @returns the name of the invalid member if the response holds no usable token
 */
export function readTokenResponse(
  raw: Readonly<Record<string, unknown>>,
  bearerTypes?: readonly string[],
): TokenResponse | 'access_token' | 'token_type' {
  const token = readToken(raw, bearerTypes)
  if (typeof token === 'string') return token
  const extra = Object.entries(raw).filter(([name]) => !knownMembers.has(name))
  const response: TokenResponse = {
    ...token,
    issuedAt: epoch(number(raw.issued_at)),
    scope: names(raw.scope, /[^ ]+/g) ?? [],
    clientId: text(raw.client_id),
    applicationName: text(raw.application_name),
    organizationName: text(raw.organization_name),
    developerEmail: text(raw.developer_email) ?? text(raw['developer.email']),
    status: text(raw.status),
    refreshToken: text(raw.refresh_token),
    refreshTokenExpiresIn: number(raw.refresh_token_expires_in),
    refreshCount: number(raw.refresh_count),
    level: text(raw.level),
    // The bracketed text is unquoted: "[a, b c]".
    apiProducts:
      names(raw.api_product_list_json) ?? names(text(raw.api_product_list)?.replace(/^\[|\]$/g, '')),
    extra: extra.length > 0 ? Object.fromEntries(extra) : undefined,
  }
  return Object.fromEntries(Object.entries(response).filter(([, value]) => value !== undefined)) as never
}

// Gateways send numbers as strings, strings as numbers, and null or an empty string for "none".
function text(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) || undefined : undefined
}

function number(value: unknown): number | undefined {
  const isNumber = typeof value === 'number' || /^\s*-?\d+(\.\d+)?\s*$/.test(text(value) ?? '')
  return isNumber && Number.isFinite(Number(value)) ? Number(value) : undefined
}

/** Not negative: a server that counts down to the expiry of one token passes zero. */
function lifetime(value: unknown): number | undefined {
  const seconds = number(value)
  return seconds === undefined ? undefined : Math.max(0, seconds)
}

function names(value: unknown, separator = /[^,]+/g): string[] | undefined {
  const list: unknown = typeof value === 'string' ? value.match(separator) : value
  if (!Array.isArray(list)) return undefined
  return list
    .filter((name) => typeof name === 'string')
    .map((name) => name.trim())
    .filter(Boolean)
}

/** Seconds, milliseconds or microseconds since 1970, distinguished by magnitude: dates from 1973 on. */
function epoch(value = 0): Date | undefined {
  if (value < 1e8 || value > 1e17) return undefined
  return new Date(value < 1e11 ? value * 1e3 : value < 1e14 ? value : value / 1e3)
}
