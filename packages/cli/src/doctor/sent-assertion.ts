/** What a client assertion states, as far as it can be shown. */
export interface SentAssertion {
  readonly audience: string
  readonly keyId: string | undefined
  readonly subject: string | undefined
  /** Seconds since 1970. */
  readonly issuedAt: number | undefined
  readonly expiresAt: number | undefined
}

/** Reads the assertion of a token request without verifying it; undefined if it has no assertion. */
export function readSentAssertion(body: unknown): { text: string; assertion: SentAssertion } | undefined {
  const text = typeof body === 'string' ? new URLSearchParams(body).get('client_assertion') : null
  if (!text) return undefined
  const [header, claims] = text.split('.').map(decode)
  const { aud, sub, iat, exp } = claims ?? {}
  const assertion = {
    audience: [aud].flat().join(', '),
    keyId: string(header?.['kid']),
    subject: string(sub),
    issuedAt: typeof iat === 'number' ? iat : undefined,
    expiresAt: typeof exp === 'number' ? exp : undefined,
  }
  return { text, assertion }
}

function decode(part: string): Record<string, unknown> | undefined {
  try {
    return Object(JSON.parse(Buffer.from(part, 'base64url').toString())) as Record<string, unknown>
  } catch {
    return undefined
  }
}

function string(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
