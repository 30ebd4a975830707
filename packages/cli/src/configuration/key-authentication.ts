import { clientAssertion, TokenError, type ClientAuthentication } from '@tokenwell/core'
import { nameOptions } from '../explain-error.ts'
import { UsageError } from '../command-errors.ts'
import type { ConnectionFlags, Identity } from './connection-options.ts'
import { readPrivateFile } from './credentials-file.ts'

/** Authentication without a secret: with a private key or an assertion, both from files. */
export interface KeyFiles {
  readonly privateKey?: string | undefined
  readonly assertionFile?: string | undefined
}

/** @throws {UsageError} for a file that cannot be used; it does not quote the file */
export async function keyAuthentication(
  { privateKey, assertionFile }: KeyFiles,
  { identity, keyId, algorithm, assertionAudience: audience }: ConnectionFlags,
): Promise<ClientAuthentication | undefined> {
  if (identity !== undefined) {
    const fingerprint = () => `${identity} ${audience}`
    return clientAssertion(await identitySource(identity, audience), { fingerprint })
  }
  if (privateKey === undefined && assertionFile === undefined) return undefined
  // Only those who use it wait until it has loaded.
  const { assertionFromFile, privateKeyJwt } = await import('@tokenwell/client-authentication')
  const authentication =
    privateKey === undefined
      ? assertionFromFile(assertionFile!)
      : privateKeyJwt({
          key: parseKey(await readPrivateFile(privateKey), privateKey),
          keyId,
          algorithm,
          audience,
        })
  try {
    await authentication.fingerprint()
  } catch (error) {
    if (!(error instanceof TokenError)) throw error
    const message = nameOptions(error.message)
    throw new UsageError(privateKey === undefined ? message : `${privateKey}: ${message}`)
  }
  return authentication
}

/** @throws {UsageError} if the audience is missing */
export async function identitySource(identity: Identity, audience: string | undefined) {
  const { azureIdentity, gcpIdentity, githubActionsIdentity } =
    await import('@tokenwell/client-authentication')
  if (identity === 'azure') return azureIdentity({ audience })
  if (audience === undefined)
    throw new UsageError(
      `--identity ${identity} requires --assertion-audience, which the token endpoint expects.`,
    )
  return identity === 'gcp' ? gcpIdentity({ audience }) : githubActionsIdentity({ audience })
}

function parseKey(text: string, path: string): object | string {
  if (!text.trimStart().startsWith('{')) return text
  try {
    return JSON.parse(text) as object
  } catch {
    // The parser's message quotes the file.
    throw new UsageError(`${path} is not valid JSON.`)
  }
}
