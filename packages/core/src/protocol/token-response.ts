import * as z from 'zod/mini'

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
 * The schema of a token response: its members as they are sent, then the fields that they become. It is created within a function,
 * because bundlers leave out what a page does not call.
 */
function createSchema(bearerTypes: readonly string[] = []) {
  /** A member that is undefined if it is missing or has another form. */
  const optional = <Output>(read: (value: unknown) => Output | undefined) => z.optional(z.transform(read))

  /**
   * The members of a token response in both formats of the platform's contract, and in that of RFC 6749, section 5.1. Only
   * `access_token` and `token_type` can make it invalid: a token that can be used is not lost for another member.
   */
  const members = {
    access_token: z.custom<string>(isAccessToken),
    token_type: z.optional(z.unknown()),
    expires_in: optional(readLifetime),
    refresh_in: optional(readNumber),
    issued_at: optional(readDate),
    scope: optional(readNames((list) => list.split(' '))),
    client_id: optional(readText),
    application_name: optional(readText),
    organization_name: optional(readText),
    developer_email: optional(readText),
    'developer.email': optional(readText),
    status: optional(readText),
    refresh_token: optional(readText),
    refresh_token_expires_in: optional(readNumber),
    refresh_count: optional(readNumber),
    level: optional(readText),
    /** Its text is not quoted: `[a, b c]`. */
    api_product_list: optional(readNames((list) => list.replace(/^\[|\]$/g, '').split(','))),
    api_product_list_json: optional(readNames((list) => list.split(','))),
  }

  return z.pipe(
    z.looseObject(members),
    z.transform((raw, context) => {
      const tokenType = readTokenType(raw.token_type, raw.access_token, bearerTypes)
      if (tokenType === undefined) {
        context.issues.push({
          code: 'custom',
          input: raw.token_type,
          path: ['token_type'],
          message: 'not supported',
        })
        return z.NEVER
      }
      const extra = readExtra(Object.entries(raw).filter(([name]) => !Object.hasOwn(members, name)))
      const fields: { readonly [Field in keyof Required<TokenResponse>]: TokenResponse[Field] } = {
        accessToken: raw.access_token,
        tokenType,
        expiresIn: raw.expires_in,
        refreshIn: raw.refresh_in || undefined,
        issuedAt: raw.issued_at,
        scope: raw.scope ?? [],
        clientId: raw.client_id,
        applicationName: raw.application_name,
        organizationName: raw.organization_name,
        developerEmail: raw.developer_email ?? raw['developer.email'],
        status: raw.status,
        refreshToken: raw.refresh_token,
        refreshTokenExpiresIn: raw.refresh_token_expires_in,
        refreshCount: raw.refresh_count,
        level: raw.level,
        apiProducts: raw.api_product_list_json ?? raw.api_product_list,
        extra,
      }
      const present = Object.entries(fields).filter(([, value]) => value !== undefined)
      return Object.fromEntries(present) as unknown as TokenResponse
    }),
  )
}

let schema: ReturnType<typeof createSchema> | undefined

function parse(value: unknown, bearerTypes?: readonly string[]) {
  return z.safeParse(bearerTypes ? createSchema(bearerTypes) : (schema ??= createSchema()), value)
}

/** A Standard Schema (https://standardschema.dev): libraries that validate accept it. */
export interface Schema<Output> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: Output; readonly issues?: undefined }
      | { readonly issues: readonly { readonly message: string; readonly path: readonly PropertyKey[] }[] }
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** The token response in both formats of the platform's contract, and in that of RFC 6749, section 5.1. */
export const tokenResponseSchema: Schema<TokenResponse> = {
  '~standard': {
    version: 1,
    vendor: 'tokenwell',
    validate(value) {
      const { data, error } = parse(value)
      return error ? { issues: error.issues } : { value: data }
    },
  },
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
  const { data, error } = parse(raw, bearerTypes)
  return data ?? (error.issues[0]?.path[0] === 'token_type' ? 'token_type' : 'access_token')
}
