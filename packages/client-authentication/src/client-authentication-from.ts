import { clientAssertion, credentialsFrom, isTokenError, type ClientAuthentication } from '@tokenwell/core'
import {
  authenticationIn,
  authenticationWays,
  environmentVariables,
  listOf,
  readerOf,
} from '@tokenwell/core/adapter'
import { configurationError } from '@tokenwell/core/protocol'
import { checkedAssertionFromFile } from './assertion-from-file.ts'
import { azureIdentityIn, gcpIdentity, githubActionsIdentityIn, type ReadVariable } from './identities.ts'
import type { IdentitySource } from './identity-source.ts'
import { privateKeyJwt } from './private-key-jwt.ts'
import { readReplacedFile } from './replaced-file.ts'
import type { SigningKeyInput } from './signing-key.ts'

/** Which variables {@link clientAuthenticationFrom} reads. */
export interface ClientAuthenticationFromOptions {
  /** What the names start with, as for `credentialsFrom`. @default none */
  readonly prefix?: string | undefined
  /** Signature algorithm of the key in `PRIVATE_KEY_FILE`. @default the algorithm of the key; RS256 for RSA keys that state none */
  readonly algorithm?: string | undefined
  /** Called if `CLIENT_SECRET` is used although another variable is set too. @default process.emitWarning */
  readonly onWarning?: ((message: string) => void) | undefined
}

/**
 * Reads from environment variables how a client authenticates, so that one program works everywhere: with `CLIENT_SECRET` or
 * `CLIENT_SECRET_FILE`; with `PRIVATE_KEY_FILE` (and `KEY_ID`, `CERTIFICATE_FILE`); with the JWT that a platform writes to
 * `ASSERTION_FILE`; or with that of `IDENTITY`, which is `github-actions`, `gcp` or `azure`. Files are read again when they change.
 *
 * A platform's JWT is sent only if its audience is `ASSERTION_AUDIENCE`, or by default the issuer. With `TOKEN_ENDPOINT` or
 * `AUTH_URL`, `IDENTITY` requires `ASSERTION_AUDIENCE`, and the JWT in `ASSERTION_FILE` may be for that URL instead.
 *
 * @param env such as `process.env`, the bindings of a Worker, or a function that returns the value of a variable
 * @returns options of `clientCredentials`, to be added to those of `credentialsFrom`
 *
 * @example
 * const tokens = clientCredentials({
 *   ...credentialsFrom(process.env, { secret: false }),
 *   ...clientAuthenticationFrom(process.env),
 * })
 *
 * @throws {TokenError} of kind `configuration`, naming the variables that are missing, invalid or mutually exclusive
 */
export function clientAuthenticationFrom(
  env: object | ((name: string) => unknown),
  { prefix = '', algorithm, onWarning = emitWarning }: ClientAuthenticationFromOptions = {},
): {
  readonly clientSecret?: string | (() => Promise<string>)
  readonly clientAuthentication?: ClientAuthentication
} {
  const read = readerOf(env)
  const chosen = authenticationIn(read, prefix)
  if (chosen === undefined || chosen.way === 'clientSecret') {
    if (chosen && chosen.ignored.length > 0) {
      const verb = chosen.ignored.length === 1 ? 'is' : 'are'
      onWarning(
        `${chosen.variable} is used, and ${listOf(chosen.ignored)} ${verb} not. Unset ${chosen.variable} to authenticate without it.`,
      )
    }
    return { clientSecret: secretIn(read, prefix) }
  }
  const server = credentialsFrom(env, { prefix, secret: false })
  const { way, value, variable } = chosen
  const own = (option: keyof typeof environmentVariables): string => prefix + environmentVariables[option][0]
  const audienceVariable = own('assertionAudience')
  const audience = read(audienceVariable) || undefined
  switch (way) {
    case 'clientSecretFile':
      return { clientSecret: () => readReplacedFile(value, 'file of the client secret') }
    case 'privateKey':
      return {
        clientAuthentication: keyFromFiles(value, read(own('certificate')) || undefined, {
          keyId: read(own('keyId')) || undefined,
          algorithm,
          audience,
        }),
      }
    case 'assertionFile': {
      const named = audience ?? server.issuer
      const { tokenEndpoint, authUrl } = server
      return {
        clientAuthentication: checkedAssertionFromFile(value, {
          audiences: [named ?? tokenEndpoint ?? authUrl!],
          orEndpoint: named === undefined,
          variable: audienceVariable,
        }),
      }
    }
    case 'identity': {
      const create = identities.get(value)
      if (create === undefined) throw configurationError(`${variable} must be github-actions, gcp or azure.`)
      const ofServer = audience ?? server.issuer
      if (ofServer === undefined) {
        throw configurationError(
          `${audienceVariable} is not set in the environment. Set it to the audience that the token endpoint expects of the JWT of ${variable}.`,
        )
      }
      return {
        clientAuthentication: clientAssertion(create(read, ofServer), {
          fingerprint: () => `${value} ${ofServer}`,
        }),
      }
    }
  }
}

const identities: ReadonlyMap<string, (read: ReadVariable, audience: string) => IdentitySource> = new Map([
  ['github-actions', (read, audience) => githubActionsIdentityIn(read, { audience })],
  ['gcp', (_read, audience) => gcpIdentity({ audience })],
  ['azure', (read, audience) => azureIdentityIn(read, { audience })],
])

function emitWarning(message: string): void {
  process.emitWarning(message, 'TokenwellWarning')
}

/** @throws {TokenError} of kind `configuration`, naming what is missing */
function secretIn(read: ReadVariable, prefix: string): string {
  const own = (name: string): string => prefix + name
  if (environmentVariables.clientSecret.some((name) => read(own(name)) !== ''))
    return credentialsFrom(read, { prefix }).clientSecret!
  const [clientId] = environmentVariables.clientId.map(own)
  const ways = authenticationWays.map((way) => own(environmentVariables[way][0]))
  const set = ways.filter((name) => read(name) !== '')
  if (set.length > 0) {
    throw configurationError(`${clientId} is not set in the environment, which ${listOf(set)} requires.`)
  }
  throw configurationError(
    `${own(environmentVariables.clientSecret[0])} is not set in the environment. Set it beside ${clientId}, or one of ${listOf(ways)}.`,
  )
}

interface KeyOptions {
  readonly keyId: string | undefined
  readonly algorithm: string | undefined
  readonly audience: string | undefined
}

/** A key, and its certificate if there is one, in files that may be replaced. */
function keyFromFiles(
  keyFile: string,
  certificateFile: string | undefined,
  options: KeyOptions,
): ClientAuthentication {
  let last: { readonly text: string; readonly certificate: string; readonly key: SigningKeyInput } | undefined
  const load = async () => {
    const text = await readReplacedFile(keyFile, 'private key', (pem) => /^\{[^]*\}$|-----END /.test(pem))
    const certificate =
      certificateFile === undefined
        ? ''
        : await readReplacedFile(certificateFile, 'certificate', (pem) => /-----END /.test(pem))
    // The key counts as another one when its certificate changes, which is then read as well.
    if (last?.text !== text || last.certificate !== certificate)
      last = { text, certificate, key: parseKey(text, keyFile, certificate) }
    return last
  }
  const authentication = privateKeyJwt({
    ...options,
    key: async () => (await load()).key,
    ...(certificateFile !== undefined && { certificate: async () => (await load()).certificate }),
  })
  // What is wrong with a key is said of its file.
  const naming =
    <Arguments extends readonly unknown[], Result>(call: (...args: Arguments) => Result | Promise<Result>) =>
    async (...args: Arguments): Promise<Result> => {
      try {
        return await call(...args)
      } catch (error) {
        const files = [keyFile, certificateFile].filter((file) => file !== undefined)
        if (!isTokenError(error) || files.some((file) => error.message.includes(file))) throw error
        const [file] = error.message.startsWith('certificate') ? files.toReversed() : files
        throw configurationError(`${file}: ${error.message}`)
      }
    }
  return {
    ...authentication,
    authenticate: naming((request) => authentication.authenticate(request)),
    fingerprint: naming(() => authentication.fingerprint()),
    revision: naming(() => authentication.revision!()),
  }
}

/** @throws {TokenError} that does not quote the file, as the parser's message does */
function parseKey(text: string, path: string, certificate: string): SigningKeyInput {
  if (!text.startsWith('{')) return `${text}\n${certificate}`
  try {
    return JSON.parse(text) as SigningKeyInput
  } catch {
    throw configurationError(`${path} is not valid JSON.`)
  }
}
