import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { clientAssertion, type ClientAuthentication } from '@tokenwell/core'
import { configurationError } from '@tokenwell/core/protocol'
import { addSentences, explainClockSkew } from './explain-rejection.ts'

/**
 * Authenticates with an assertion that the environment writes to a file, such as a Kubernetes service account token.
 * The file is read for each token request, because it may be replaced at any time.
 *
 * @example
 * clientCredentials({ tokenEndpoint, clientId, clientAuthentication: assertionFromFile('/var/run/secrets/tokens/token') })
 */
export function assertionFromFile(path: string): ClientAuthentication {
  const read = async (): Promise<string> => {
    let text: string
    try {
      text = (await readFile(path, 'utf8')).trim()
    } catch (error) {
      throw configurationError(
        `Could not read the assertion file ${path} (${(error as NodeJS.ErrnoException).code}).`,
      )
    }
    if (text === '') throw configurationError(`The assertion file ${path} is empty.`)
    return text
  }
  return {
    ...clientAssertion(read, { fingerprint: async () => `file ${identityOf(await read()) ?? path}` }),
    // Another assertion may be accepted, even for the same subject.
    revision: async () =>
      createHash('sha256')
        .update(await read())
        .digest('base64url'),
    explain(error, headers) {
      if (error.kind === 'credentials') addSentences(error, explainClockSkew(headers))
    },
  }
}

/** Issuer and subject of a JWT: they remain the same when the file is replaced. */
function identityOf(assertion: string): string | undefined {
  try {
    const payload = Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString()
    const { iss, sub } = JSON.parse(payload) as { iss?: unknown; sub?: unknown }
    return JSON.stringify([iss, sub])
  } catch {
    return undefined
  }
}
