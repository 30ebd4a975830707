import { createHash } from 'node:crypto'
import { clientAssertion, type ClientAuthentication, type ClientAuthenticationRequest } from '@tokenwell/core'
import { configurationError } from '@tokenwell/core/protocol'
import { decodeJwt } from 'jose'
import { addSentences, explainClockSkew } from './explain-rejection.ts'
import { readReplacedFile } from './replaced-file.ts'

/**
 * Authenticates with an assertion that the environment writes to a file, such as a Kubernetes service account token.
 * The file is read for each token request, because it may be replaced at any time.
 *
 * @example
 * clientCredentials({ tokenEndpoint, clientId, clientAuthentication: assertionFromFile('/var/run/secrets/tokens/token') })
 */
export function assertionFromFile(path: string): ClientAuthentication {
  return checkedAssertionFromFile(path)
}

/** What the `aud` of a JWT must contain. */
interface ExpectedAudience {
  /** One of these. */
  readonly audiences: readonly string[]
  /** Whether the URL of the token endpoint is another one. */
  readonly orEndpoint: boolean
  /** The variable that sets it. */
  readonly variable: string
}

/** @param expected or the JWT is not sent */
export function checkedAssertionFromFile(path: string, expected?: ExpectedAudience): ClientAuthentication {
  const read = (): Promise<string> =>
    readReplacedFile(path, 'assertion file', (text) => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text))
  const readChecked = async ({ tokenEndpoint }: ClientAuthenticationRequest): Promise<string> => {
    const assertion = await read()
    if (expected === undefined) return assertion
    const ofEndpoint = expected.orEndpoint ? [`${tokenEndpoint.origin}${tokenEndpoint.pathname}`] : []
    checkAudience(assertion, path, { ...expected, audiences: [...expected.audiences, ...ofEndpoint] })
    return assertion
  }
  return {
    ...clientAssertion(readChecked, { fingerprint: async () => `file ${identityOf(await read()) ?? path}` }),
    // Another assertion may be accepted, even for the same subject; and one where there was none.
    revision: async () =>
      createHash('sha256')
        .update(await read().catch(() => ''))
        .digest('base64url'),
    explain(error, headers) {
      if (error.kind === 'credentials') addSentences(error, explainClockSkew(headers))
    },
  }
}

/** Issuer and subject of a JWT: they remain the same when the file is replaced. */
function identityOf(assertion: string): string | undefined {
  try {
    const { iss, sub } = decodeJwt(assertion)
    return JSON.stringify([iss, sub])
  } catch {
    return undefined
  }
}

/** @throws {TokenError} of kind `configuration` */
function checkAudience(assertion: string, path: string, { audiences, variable }: ExpectedAudience): void {
  const named = audiencesOf(assertion)
  if (named === undefined) {
    throw configurationError(
      `The assertion file ${path} contains no JWT. Name the file that the platform writes.`,
    )
  }
  // A base URL is written with a trailing slash or without.
  const plain = (audience: string): string => audience.replace(/\/$/, '')
  if (named.some((each) => audiences.some((audience) => plain(audience) === plain(each)))) return
  const found = named.length === 0 ? 'no audience' : `the audience "${named.join(', ')}"`
  throw configurationError(
    `The JWT in ${path} has ${found} instead of "${audiences[0]}", and was not sent. ` +
      `Let the platform issue it for that audience, or set ${variable} to the one that the token endpoint expects.`,
  )
}

function audiencesOf(assertion: string): readonly string[] | undefined {
  try {
    const { aud } = decodeJwt(assertion)
    return [aud ?? []].flat()
  } catch {
    return undefined
  }
}
