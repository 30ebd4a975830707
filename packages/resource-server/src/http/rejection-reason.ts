/**
 * Why a token was rejected: what it has, and what was expected. For those who operate the API: it is in events, on the
 * error object and in the log, and never in the response.
 */
export interface RejectionReason {
  /**
   * The claim, such as `aud`, or the header parameter: `typ`, `alg`, `kid`. Also `signature`; `format`, if tokens of this
   * kind are not accepted; `active` of an introspection response; `where`, the function of a requirement.
   */
  readonly claim: string
  /** The value in the token as text, at most 200 characters; null if it has none. */
  readonly received: string | null
  /** At most 200 characters, too. */
  readonly expected: string
}

const maxLength = 200

/** The mistakes of a new API or client, by reason: a claim alone does not tell them apart. */
const mistakes = new WeakMap<RejectionReason, keyof typeof fixes>()

/**
 * @param received any value that the sender may have chosen
 * @param mistake the mistake of a new API or client that this usually is
 */
export function rejectionReason(
  claim: string,
  received: unknown,
  expected: string,
  mistake?: keyof typeof fixes,
): RejectionReason {
  // Requests with the same token get the same object.
  const reason = Object.freeze({
    claim,
    received: received === undefined ? null : printable(received),
    expected: printable(expected),
  })
  if (mistake) mistakes.set(reason, mistake)
  return reason
}

export function oneOf(values: readonly unknown[]): string {
  return values.join(' or ')
}

export function allOf(values: readonly unknown[]): string {
  return values.join(' and ')
}

/** Times of a token are seconds. */
export function timeOf(seconds: unknown): unknown {
  const time = new Date(Number(seconds) * 1_000)
  return typeof seconds === 'number' && !Number.isNaN(time.getTime()) ? time.toISOString() : seconds
}

/** On one line, and without characters that change how a log is read. */
function printable(value: unknown): string {
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'string')
  const text = typeof value === 'string' ? value : isList ? value.join(', ') : JSON.stringify(value)
  const short = text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
  return short.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd')
}

export function describeReason({ claim, received, expected }: RejectionReason): string {
  return `its ${claim} is ${received === null ? 'missing' : JSON.stringify(received)}. Expected: ${expected}`
}

const fixes = {
  aud: 'If it contains the name of this API at its issuer, set `audience` to that name. Otherwise the client has requested a token for another API.',
  iss: 'If you trust this issuer, set `issuer` to exactly this value, including a slash at its end.',
  typ: "Tokens of the type at+jwt are accepted unless the option `typ` says otherwise. Set `typ: 'JWT'`, or `typ: false` if this issuer sets none, and `clients`, `scopes` or `claims`, so that no ID token is accepted.",
  otherTyp:
    'If access tokens of this issuer have this type, add it to `typ`. Otherwise the client sends another kind of token.',
  idToken:
    'The client sends its ID token, or another one that is not for APIs. It must send the access token.',
}

/** How to fix a rejection that a new API has at first; undefined for any other. */
export function explainReason(reason: RejectionReason): string | undefined {
  const mistake = mistakes.get(reason)
  return mistake && fixes[mistake]
}
