/** The introspection response of the token service (RFC 7662, section 2.2). */
export interface Introspection {
  readonly active: boolean
  readonly clientId?: string | undefined
  readonly scope: readonly string[]
  /** Milliseconds since 1970. */
  readonly expiresAt?: number | undefined
  readonly apiProducts: readonly string[]
}

export interface IntrospectionSettings {
  readonly authUrl: string | URL
  /** The credentials of this API, not of its clients. */
  readonly clientId: string
  readonly clientSecret: string
  /** @default 5_000 */
  readonly timeoutMs?: number | undefined
}

/** The token service could not be reached or did not return a valid introspection response. */
export class IntrospectionError extends Error {
  override readonly name = 'IntrospectionError'
}

/** Introspects one access token; throws `IntrospectionError` without a valid response. */
export async function introspectToken(
  token: string,
  settings: IntrospectionSettings,
): Promise<Introspection> {
  const url = `${String(settings.authUrl).replace(/\/+$/, '')}/oauth/introspect`
  let response: Response
  let body: unknown
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { authorization: basicCredentials(settings), accept: 'application/json' },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }),
      redirect: 'error',
      signal: AbortSignal.timeout(settings.timeoutMs ?? 5_000),
    })
    body = response.ok ? await response.json() : await response.body?.cancel()
  } catch (error) {
    throw new IntrospectionError(`The token service at ${url} did not respond.`, { cause: error })
  }
  if (response.status === 401) {
    throw new IntrospectionError(
      `The token service at ${url} rejected the credentials of client ${settings.clientId}.`,
    )
  }
  if (!response.ok)
    throw new IntrospectionError(`The token service at ${url} responded with status ${response.status}.`)
  return readIntrospection(body, url)
}

/** Both values are form-encoded before they are joined (RFC 6749, section 2.3.1). */
function basicCredentials({ clientId, clientSecret }: IntrospectionSettings): string {
  const encode = (value: string) => new URLSearchParams({ '': value }).toString().slice(1)
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString('base64')}`
}

function readIntrospection(body: unknown, url: string): Introspection {
  const fields = (typeof body === 'object' ? body : null) as Record<string, unknown> | null
  if (typeof fields?.['active'] !== 'boolean') {
    throw new IntrospectionError(`The response of the token service at ${url} has no valid member "active".`)
  }
  const { active, client_id: clientId, scope, exp, api_products: products } = fields
  return {
    active,
    clientId: typeof clientId === 'string' ? clientId : undefined,
    scope: typeof scope === 'string' ? scope.split(' ').filter(Boolean) : [],
    expiresAt: typeof exp === 'number' ? exp * 1_000 : undefined,
    apiProducts: Array.isArray(products) ? products.filter((product) => typeof product === 'string') : [],
  }
}
