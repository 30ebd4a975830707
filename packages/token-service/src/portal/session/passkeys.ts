import { isIP } from 'node:net'
import { z } from 'zod'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { digest } from '../../runtime/digest.ts'
import type { Developer, Passkey } from '../../storage/developer-storage.ts'
import { PortalError } from '../portal-error.ts'
import type { DeveloperRequest, PortalRequest, PortalResponse } from '../portal-request.ts'

const lifetimeMs = 5 * 60_000
// EdDSA, ES256 and RS256 (RFC 9053, section 2; RFC 8812, section 2).
const algorithms = [-8, -7, -257]

/** A website in the sense of WebAuthn, section 5.1.2. */
export interface RelyingParty {
  readonly id: string
  readonly origin: string
}

/** The portal as a relying party; `undefined` where browsers have no passkeys: without HTTPS or without a host name. */
export function relyingPartyOf({ baseUrl }: Pick<PortalRequest, 'baseUrl'>): RelyingParty | undefined {
  const { protocol, hostname, origin } = new URL(baseUrl)
  const isLocalhost = /(?:^|\.)localhost$/.test(hostname)
  const isName = protocol === 'https:' && !hostname.startsWith('[') && isIP(hostname) === 0
  return isLocalhost || isName ? { id: hostname, origin } : undefined
}

/** @throws {PortalError} where browsers have no passkeys */
export function requireRelyingParty(request: PortalRequest): RelyingParty {
  const rp = relyingPartyOf(request)
  if (!rp) throw new PortalError('not_found')
  return rp
}

/** What a browser has begun, in its encrypted cookie: without a passkey, nothing is stored. */
const begunSchema = z.object({
  use: z.enum(['passkey log-in', 'new passkey']),
  challenge: z.string(),
  /** The session of the developer who adds a passkey. */
  session: z.string().optional(),
  expiresAtMs: z.number(),
})
type Begun = z.output<typeof begunSchema>

const base64url = z.string().regex(/^[\w-]{1,20000}$/)
const credential = {
  // At most 1,023 bytes (WebAuthn, section 4).
  id: z.string().regex(/^[\w-]{1,1364}$/),
  rawId: base64url,
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}).default({}),
}
const assertionSchema = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url,
  }),
})
const attestationSchema = z.object({
  ...credential,
  response: z.object({ clientDataJSON: base64url, attestationObject: base64url }),
})

/** Who used a passkey; without `isValid`, the passkey that somebody tried to use. */
interface PasskeyUse {
  readonly isValid: boolean
  readonly developer?: Developer | undefined
}

/** Creates and verifies passkeys (WebAuthn, sections 7.1 and 7.2). */
export function createPasskeys({ storage, keyring, clock }: ServiceContext) {
  // Loaded on first use: most services never see a passkey.
  const library = () => import('@simplewebauthn/server')

  async function begin(challenge: string, use: Begun['use'], session?: string): Promise<string> {
    const begun: Begun = { use, challenge, session, expiresAtMs: clock.now() + lifetimeMs }
    return keyring.encrypt(JSON.stringify(begun))
  }

  /** Of this browser and session: another one has no such cookie. */
  async function readBegun(
    { pendingLogIn: cookie }: PortalRequest,
    use: Begun['use'],
    session?: string,
  ): Promise<Begun | undefined> {
    const text = cookie === undefined ? undefined : await keyring.decrypt(cookie)
    if (text === undefined) return undefined
    const { data } = begunSchema.safeParse(JSON.parse(text))
    const isSame = data?.use === use && data.session === session
    return isSame && data.expiresAtMs > clock.now() ? data : undefined
  }

  /** Once, even if somebody has copied the cookie; only after the signature was verified, so that nobody fills the table. */
  const isFirst = ({ challenge, expiresAtMs }: Begun) =>
    storage.assertions.use(`portal passkey ${digest(challenge)}`, expiresAtMs)

  return {
    async beginLogIn(rp: RelyingParty): Promise<PortalResponse> {
      const { generateAuthenticationOptions } = await library()
      const json = await generateAuthenticationOptions({
        rpID: rp.id,
        userVerification: 'required',
        timeout: lifetimeMs,
      })
      return { json, pendingLogIn: await begin(json.challenge, 'passkey log-in') }
    },

    async finishLogIn(request: PortalRequest, rp: RelyingParty): Promise<PasskeyUse> {
      const response = parseCredential(assertionSchema, request)
      const found = response && (await storage.passkeys.find(response.id))
      if (!found) return { isValid: false }
      const { passkey, developer } = found
      const rejected = { isValid: false, developer }
      const begun = await readBegun(request, 'passkey log-in')
      // A passkey states its owner, too (section 7.2, step 6).
      if (!begun || response.response.userHandle !== userHandle(developer)) return rejected
      const { verifyAuthenticationResponse } = await library()
      const counter = await orUndefined(async () => {
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response,
          expectedChallenge: begun.challenge,
          expectedOrigin: rp.origin,
          expectedRPID: rp.id,
          credential: {
            id: passkey.id,
            publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
            counter: passkey.counter,
          },
        })
        return verified ? authenticationInfo.newCounter : undefined
      })
      if (counter === undefined || !(await isFirst(begun))) return rejected
      return { isValid: await storage.passkeys.use(passkey.id, counter, clock.now()), developer }
    },

    async beginAdding(
      { developer, sessionHash }: DeveloperRequest,
      rp: RelyingParty,
    ): Promise<PortalResponse> {
      const { generateRegistrationOptions } = await library()
      const passkeys = await storage.passkeys.list(developer.id)
      const json = await generateRegistrationOptions({
        rpName: 'Tokenwell',
        rpID: rp.id,
        userID: new Uint8Array(Buffer.from(developer.id)),
        userName: developer.name,
        userDisplayName: developer.name,
        timeout: lifetimeMs,
        attestationType: 'none',
        excludeCredentials: passkeys.map(({ id }) => ({ id })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        supportedAlgorithmIDs: algorithms,
      })
      return { json, pendingLogIn: await begin(json.challenge, 'new passkey', sessionHash) }
    },

    /** `undefined` if the response of the authenticator is not valid. */
    async finishAdding(
      request: DeveloperRequest,
      rp: RelyingParty,
      name: string,
    ): Promise<Passkey | undefined> {
      const response = parseCredential(attestationSchema, request)
      const begun = await readBegun(request, 'new passkey', request.sessionHash)
      if (!response || !begun) return undefined
      const [{ verifyRegistrationResponse }, { decodeAttestationObject }] = await Promise.all([
        library(),
        import('@simplewebauthn/server/helpers'),
      ])
      const created = await orUndefined(async () => {
        const { attestationObject } = response.response
        const attestation = decodeAttestationObject(
          new Uint8Array(Buffer.from(attestationObject, 'base64url')),
        )
        // Nobody requested a certificate: none is parsed, and no URL in one is fetched.
        const isCertified = attestation.get('attStmt').get('x5c') !== undefined
        if (isCertified || !['none', 'packed'].includes(attestation.get('fmt'))) return undefined
        const { registrationInfo } = await verifyRegistrationResponse({
          response,
          expectedChallenge: begun.challenge,
          expectedOrigin: rp.origin,
          expectedRPID: rp.id,
          supportedAlgorithmIDs: algorithms,
        })
        return registrationInfo?.credential
      })
      if (!created || !(await isFirst(begun))) return undefined
      return {
        id: created.id,
        developerId: request.developer.id,
        name,
        publicKey: Buffer.from(created.publicKey).toString('base64url'),
        counter: created.counter,
        createdAtMs: clock.now(),
      }
    },
  }
}

function userHandle({ id }: Developer): string {
  return Buffer.from(id).toString('base64url')
}

function parseCredential<Schema extends z.ZodType>(
  schema: Schema,
  { form }: PortalRequest,
): z.output<Schema> | undefined {
  try {
    return schema.safeParse(JSON.parse(String(form['credential']))).data
  } catch {
    return undefined
  }
}

/** The library throws errors for whatever is not valid. */
async function orUndefined<Result>(verify: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await verify()
  } catch {
    return undefined
  }
}
