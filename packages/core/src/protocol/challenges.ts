/** One challenge of a `WWW-Authenticate` header; scheme and parameter names in lower case. */
export interface Challenge {
  readonly scheme: string
  readonly parameters: ReadonlyMap<string, string>
}

const challengePart = /([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&'*+.^`|~-]*)))?/g

/** RFC 9110, section 11.6.1: a word without a value starts a challenge, and the pairs after it belong to it. */
export function readChallenges(header: string | undefined): Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = []
  for (const [, name = '', quoted, plain] of (header ?? '').matchAll(challengePart)) {
    const value = quoted?.replace(/\\(.)/g, '$1') ?? plain
    if (value === undefined) challenges.push({ scheme: name.toLowerCase(), parameters: new Map() })
    // Some gateways send error='invalid_token".
    else challenges.at(-1)?.parameters.set(name.toLowerCase(), value.replace(/^['"]|['"]$/g, ''))
  }
  return challenges
}

/** The challenge of a token's scheme that has the parameter, if there is one. */
export function challengeWith(header: string | undefined, parameter: string): Challenge | undefined {
  return readChallenges(header).find(
    ({ scheme, parameters }) => /^(?:bearer|dpop)$/.test(scheme) && parameters.has(parameter),
  )
}
