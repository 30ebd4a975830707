import { $ZodStringFormat, safeParse } from 'zod/v4/core'

/**
 * A token response, normalised: one shape for both forms of the platform's contract and for RFC 6749,
 * section 5.1. A member that is missing, null or empty in the answer is absent here.
 */
export interface TokenResponse {
  /** The bearer token (RFC 6750): visible ASCII, fit for a header. */
  readonly accessToken: string
  readonly tokenType: 'Bearer'
  /** Lifetime in seconds from the request; absent when the server gave none that is a positive number. */
  readonly expiresIn?: number | undefined
  /** When the server says it issued the token; never lengthens its life. */
  readonly issuedAt?: Date | undefined
  /** Granted scopes; empty when the server gave none. */
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
}

// Two members must be right for a token to be used at all; the others are read for what they are worth.
/** RFC 6749, appendix A.12, less the blanks at either end that a header would lose. */
const accessToken = format(/^[!-~](?:[ -~]*[!-~])?$/)
/** RFC 6749, section 7.1: a type that is not understood must not be used. */
const tokenType = format(/^(?:bearer(?:token)?)?$/i)

/** The core of zod, of which this takes 2.7 kB: `z.string().regex()` would bring 0.6 kB more. */
function format(pattern: RegExp) {
  return new $ZodStringFormat({ type: 'string', check: 'string_format', format: 'regex', pattern })
}

/** Whether a value is fit to be sent as a token. */
export function isAccessToken(value: unknown): value is string {
  return safeParse(accessToken, value).success
}

/**
 * Reads the members of a token response; pure.
 *
 * @returns the name of the unusable member where there is no token in it
 */
export function readTokenResponse(raw: Readonly<Record<string, unknown>>): TokenResponse | string {
  if (!isAccessToken(raw.access_token)) return 'access_token'
  if (!safeParse(tokenType, raw.token_type ?? '').success) return 'token_type'
  const response: Record<keyof TokenResponse, unknown> = {
    accessToken: raw.access_token,
    tokenType: 'Bearer',
    expiresIn: number(raw.expires_in) || undefined,
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
  }
  return Object.fromEntries(Object.entries(response).filter(([, value]) => value !== undefined)) as never
}

// Gateways send numbers as strings, strings as numbers, nulls and empty strings for "none".
function text(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) || undefined : undefined
}

function number(value: unknown): number | undefined {
  // Bounded, so that no text of digits reads as infinite.
  return /^\s*\d{1,300}(\.\d+)?\s*$/.test(text(value) ?? '') ? Number(value) : undefined
}

function names(value: unknown, separator = /[^,]+/g): string[] | undefined {
  const list: unknown = typeof value === 'string' ? value.match(separator) : value
  if (!Array.isArray(list)) return undefined
  return list
    .filter((name) => typeof name === 'string')
    .map((name) => name.trim())
    .filter(Boolean)
}

/** Seconds, milliseconds or microseconds since 1970, told apart by their size: dates from 1973 on. */
function epoch(value = 0): Date | undefined {
  if (value < 1e8 || value > 1e17) return undefined
  return new Date(value < 1e11 ? value * 1e3 : value < 1e14 ? value : value / 1e3)
}
