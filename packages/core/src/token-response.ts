import * as z from 'zod/mini'

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

// Gateways send numbers as strings, strings as numbers, nulls and empty strings for "none".
const text = lenient((value) =>
  typeof value === 'number' ? String(value) : typeof value === 'string' && value !== '' ? value : undefined,
)
const count = lenient((value) => {
  const number =
    typeof value === 'string' && /^\s*\d{1,20}(\.\d{1,20})?\s*$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined
})
const words = lenient((value) =>
  Array.isArray(value)
    ? value.filter((word): word is string => typeof word === 'string')
    : typeof value === 'string'
      ? value.split(' ')
      : undefined,
)

function lenient<Value>(read: (value: unknown) => Value | undefined) {
  return z.optional(z.pipe(z.unknown(), z.transform(read)))
}

const members = z.object({
  // RFC 6749, appendix A.12, less the blanks at either end that a header would lose.
  access_token: z.string().check(z.regex(/^[!-~](?:[ -~]*[!-~])?$/)),
  // RFC 6749, section 7.1: a type that is not understood must not be used.
  token_type: z.nullish(z.string().check(z.regex(/^(?:bearer(?:token)?)?$/i))),
  expires_in: count,
  issued_at: count,
  scope: words,
  client_id: text,
  application_name: text,
  organization_name: text,
  developer_email: text,
  'developer.email': text,
  status: text,
  refresh_token: text,
  refresh_token_expires_in: count,
  refresh_count: count,
  level: text,
  api_product_list: text,
  api_product_list_json: words,
})

/** What is wrong with the members of an answer that is no token response; names the member only. */
export type Unreadable = { readonly problem: string }

/** Reads the members of a token response; pure. */
export function readTokenResponse(answer: unknown): TokenResponse | Unreadable {
  // Without code generation: its probe is reported as a violation on pages with a strict content policy.
  const parsed = members.safeParse(answer, { jitless: true })
  if (!parsed.success) {
    const member = parsed.error.issues[0]?.path[0]
    return {
      problem: member === undefined ? 'it is no JSON object' : `its ${String(member)} is missing or unusable`,
    }
  }
  const data = parsed.data
  return withoutAbsent({
    accessToken: data.access_token,
    tokenType: 'Bearer',
    expiresIn: data.expires_in || undefined,
    issuedAt: epoch(data.issued_at),
    scope: trimmed(data.scope ?? []),
    clientId: data.client_id,
    applicationName: data.application_name,
    organizationName: data.organization_name,
    developerEmail: data.developer_email ?? data['developer.email'],
    status: data.status,
    refreshToken: data.refresh_token,
    refreshTokenExpiresIn: data.refresh_token_expires_in,
    refreshCount: data.refresh_count,
    level: data.level,
    apiProducts: products(data.api_product_list_json, data.api_product_list),
  })
}

function products(list: string[] | undefined, bracketed: string | undefined): string[] | undefined {
  const names = list ?? bracketed?.replace(/^\s*\[|\]\s*$/g, '').split(',')
  return names && trimmed(names)
}

function trimmed(names: string[]): string[] {
  return names.map((name) => name.trim()).filter((name) => name !== '')
}

/** Seconds, milliseconds or microseconds since 1970, told apart by their size: dates from 1973 on. */
function epoch(value: number | undefined): Date | undefined {
  if (value === undefined || value < 1e8 || value > 1e17) return undefined
  return new Date(value < 1e11 ? value * 1e3 : value < 1e14 ? value : value / 1e3)
}

function withoutAbsent(response: TokenResponse): TokenResponse {
  return Object.fromEntries(Object.entries(response).filter(([, value]) => value !== undefined)) as never
}
