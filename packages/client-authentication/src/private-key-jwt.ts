import { clientAssertion, type ClientAuthentication } from '@tokenwell/core'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { addSentences, explainClockSkew } from './explain-rejection.ts'
import {
  certificateThumbprint,
  importSigningKey,
  type SigningKey,
  type SigningKeyInput,
  type SigningKeyOptions,
} from './signing-key.ts'

export interface PrivateKeyJwtOptions extends SigningKeyOptions {
  /** The private key. A function is called for each token request, so that the key can be replaced. */
  readonly key: SigningKeyInput | (() => SigningKeyInput | Promise<SigningKeyInput>)
  /** ID under which the server knows the key. @default the `kid` of a JWK */
  readonly keyId?: string | undefined
  /**
   * The certificate of the key, or a chain with it, as PEM text: its thumbprint is sent (`x5t#S256`), which Entra ID requires. A
   * function is called when the key changes. @default the `x5t#S256` of a JWK
   */
  readonly certificate?: string | (() => string | Promise<string>) | undefined
  /** @default the algorithm of the key; RS256 for RSA keys that state none */
  readonly algorithm?: string | undefined
  /** The `aud` of assertions. @default the issuer, if it is known, else the token endpoint */
  readonly audience?: string | undefined
  /** @default 60 */
  readonly lifetimeSeconds?: number | undefined
}

/** How far the server's clock may be behind. */
const skewSeconds = 5

/**
 * Authenticates with assertions that the client signs with its private key (`private_key_jwt`: RFC 7523, OpenID
 * Connect). If the key is unusable, the first token request fails with a `TokenError` of kind `configuration`.
 *
 * @example
 * clientCredentials({ tokenEndpoint, clientId, clientAuthentication: privateKeyJwt({ key: process.env.PRIVATE_KEY }) })
 */
export function privateKeyJwt(options: PrivateKeyJwtOptions): ClientAuthentication {
  const { lifetimeSeconds = 60 } = options
  let last: { readonly input: SigningKeyInput; readonly imported: Promise<SigningKey> } | undefined
  const load = async (): Promise<SigningKey> => {
    const input = typeof options.key === 'function' ? await options.key() : options.key
    if (last === undefined || last.input !== input) last = { input, imported: importKey(input) }
    return last.imported
  }
  const importKey = async (input: SigningKeyInput): Promise<SigningKey> => {
    const key = await importSigningKey(input, options)
    const { certificate } = options
    if (certificate === undefined) return key
    const pem = typeof certificate === 'function' ? await certificate() : certificate
    return { ...key, certificateThumbprint: await certificateThumbprint(pem, key) }
  }
  const assertion = clientAssertion(
    async ({ clientId, tokenEndpoint, issuer }) => {
      const { privateKey, algorithm, keyId, certificateThumbprint: thumbprint } = await load()
      const audience = options.audience ?? issuer ?? `${tokenEndpoint.origin}${tokenEndpoint.pathname}`
      const issuedAt = Math.floor(Date.now() / 1000) - skewSeconds
      return new SignJWT()
        .setProtectedHeader({
          alg: algorithm,
          typ: 'JWT',
          ...(keyId !== undefined && { kid: keyId }),
          ...(thumbprint !== undefined && { 'x5t#S256': thumbprint }),
        })
        .setIssuer(clientId)
        .setSubject(clientId)
        .setAudience(audience)
        .setJti(crypto.randomUUID())
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + lifetimeSeconds)
        .sign(privateKey)
    },
    { fingerprint: async () => `private_key_jwt ${(await load()).thumbprint}` },
  )
  return {
    ...assertion,
    // Another key ID or certificate may be accepted, even for the same key.
    revision: async () => {
      const { thumbprint, keyId, certificateThumbprint: ofCertificate } = await load()
      return `${thumbprint} ${keyId} ${ofCertificate}`
    },
    explain(error, headers, { body }) {
      if (error.kind !== 'credentials') return
      addSentences(error, describeAssertion(body.get('client_assertion')!), explainClockSkew(headers))
    },
  }
}

function describeAssertion(assertion: string): string {
  const { kid } = decodeProtectedHeader(assertion)
  const keyId = kid === undefined ? 'no key ID' : `the key ID "${kid}"`
  return `The assertion has the audience "${String(decodeJwt(assertion).aud)}" and ${keyId}.`
}
