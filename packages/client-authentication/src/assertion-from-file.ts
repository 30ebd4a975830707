import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { clientAssertion, type ClientAuthentication } from '@tokenwell/core'
import { configurationError } from '@tokenwell/core/protocol'
import { decodeJwt } from 'jose'
import { addSentences, explainClockSkew } from './explain-rejection.ts'

/** A file that is missing or incomplete may be in the middle of its replacement: it is read again. */
const maxReads = 3
const rereadMs = 50

/**
 * Authenticates with an assertion that the environment writes to a file, such as a Kubernetes service account token.
 * The file is read for each token request, because it may be replaced at any time.
 *
 * @example
 * clientCredentials({ tokenEndpoint, clientId, clientAuthentication: assertionFromFile('/var/run/secrets/tokens/token') })
 */
export function assertionFromFile(path: string): ClientAuthentication {
  async function read(): Promise<string> {
    for (let reads = 1; ; reads++) {
      const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => error)
      const assertion = typeof text === 'string' ? text.trim() : ''
      const isComplete = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(assertion)
      if (isComplete || (reads === maxReads && assertion !== '')) return assertion
      if (reads === maxReads) {
        throw configurationError(
          typeof text === 'string'
            ? `The assertion file ${path} is empty.`
            : `Could not read the assertion file ${path} (${text.code}).`,
        )
      }
      await setTimeout(rereadMs)
    }
  }
  return {
    ...clientAssertion(read, { fingerprint: async () => `file ${identityOf(await read()) ?? path}` }),
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
