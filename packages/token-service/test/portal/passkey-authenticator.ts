import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { expect } from 'vitest'
import { adminSender } from '../test-service.ts'
import { password, startPortal, type PortalBrowser } from './portal-browser.ts'

const origin = 'https://auth.example.com'
interface Options {
  readonly challenge: string
  readonly rp?: { readonly id: string }
  readonly rpId?: string
  readonly user?: { readonly id: string }
}

/** What an attacker's browser or authenticator may do otherwise. */
export interface Deviation {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly type?: string
  readonly flags?: number
  readonly counter?: number
  readonly userHandle?: string
  readonly id?: string
  readonly signature?: string
  /** Its format and statement, as CBOR. */
  readonly attestation?: string
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()
export const base64url = (data: string | Buffer) => Buffer.from(data).toString('base64url')

/** A platform authenticator in software, with one passkey (WebAuthn, section 6). */
export function createAuthenticator(id = base64url(randomBytes(16))) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const coordinate = (label: number, value: string) =>
    Buffer.concat([Buffer.from([label, 0x58, 32]), Buffer.from(value, 'base64url')])
  const coseKey = Buffer.concat([
    Buffer.from('a5010203262001', 'hex'),
    coordinate(0x21, x),
    coordinate(0x22, y),
  ])
  let counter = 0
  let userHandle = ''

  function authenticatorData(rpId: string, flags: number, count: number, credential = Buffer.alloc(0)) {
    const head = Buffer.alloc(5)
    head.writeUInt8(flags)
    head.writeUInt32BE(count, 1)
    return Buffer.concat([sha256(rpId), head, credential])
  }
  const clientData = (type: string, options: Options, by: Deviation) =>
    base64url(
      JSON.stringify({
        type: by.type ?? type,
        challenge: by.challenge ?? options.challenge,
        origin: by.origin ?? origin,
        crossOrigin: false,
      }),
    )
  const credential = (response: object, { id: otherId = id }: Deviation) =>
    JSON.stringify({ id: otherId, rawId: otherId, type: 'public-key', clientExtensionResults: {}, response })

  return {
    id,
    create: (options: Options, by: Deviation = {}) => {
      userHandle = options.user?.id ?? ''
      const idBytes = Buffer.from(id, 'base64url')
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, idBytes.length]), idBytes, coseKey])
      const data = authenticatorData(by.rpId ?? options.rp?.id ?? '', by.flags ?? 0x45, counter, attested)
      const attestationObject = Buffer.concat([
        Buffer.from(`\xa3\x63fmt${by.attestation ?? '\x64none\x67attStmt\xa0'}\x68authData\x58`, 'latin1'),
        Buffer.from([data.length]),
        data,
      ])
      const clientDataJSON = clientData('webauthn.create', options, by)
      return credential({ clientDataJSON, attestationObject: base64url(attestationObject) }, by)
    },
    get: (options: Options, by: Deviation = {}) => {
      counter += 1
      const data = authenticatorData(by.rpId ?? options.rpId ?? '', by.flags ?? 0x05, by.counter ?? counter)
      const clientDataJSON = clientData('webauthn.get', options, by)
      const signed = Buffer.concat([data, sha256(Buffer.from(clientDataJSON, 'base64url'))])
      const response = {
        clientDataJSON,
        authenticatorData: base64url(data),
        signature: by.signature ?? base64url(sign('sha256', signed, privateKey)),
        userHandle: by.userHandle ?? userHandle,
      }
      return credential(response, by)
    },
  }
}

export type Authenticator = ReturnType<typeof createAuthenticator>

export async function begin(browser: PortalBrowser, path: string): Promise<Options> {
  const { status, text } = await browser.post(path)
  expect([path, status]).toEqual([path, 200])
  return JSON.parse(text) as Options
}

/** A portal where passkeys are possible, with a clock that only tests move. */
export async function startWithPasskeys() {
  const time = { now: Date.UTC(2026, 0, 31, 12) }
  const clock = { now: () => time.now }
  const portal = await startPortal({
    clock,
    publicUrl: origin,
    adminPort: 0,
    adminToken: 'administrator-token-0123456789-abcdef',
  })
  const { service, newBrowser } = portal
  const { storage, activity } = service.context

  return {
    ...portal,
    time,
    storage,
    send: adminSender(service.adminUrl!, 'administrator-token-0123456789-abcdef'),
    add: async (
      browser: PortalBrowser,
      authenticator: Authenticator,
      by: Deviation = {},
      name = 'laptop',
    ) => {
      await browser.get('/portal/account')
      const options = await begin(browser, '/portal/account/passkeys/options')
      return browser.post('/portal/account/passkeys', { name, credential: authenticator.create(options, by) })
    },
    logIn: async (authenticator: Authenticator, by: Deviation = {}, browser = newBrowser()) => {
      await browser.get('/portal/log-in')
      const options = await begin(browser, '/portal/log-in/passkey/options')
      return browser.post('/portal/log-in/passkey', { credential: authenticator.get(options, by) })
    },
    logInWithPassword: async (name: string, typed = password) => {
      const browser = newBrowser()
      await browser.get('/portal/log-in')
      return browser.post('/portal/log-in', { name, password: typed })
    },
    recover: async (name: string, code: string, browser = newBrowser()) => {
      await browser.get('/portal/log-in/recovery')
      return browser.post('/portal/log-in/recovery', { name, code })
    },
    events: async () => {
      await activity.flush()
      const entries = await storage.audit.list(100)
      return entries.map(({ event, detail, count }) => [event, detail, count] as const)
    },
  }
}
