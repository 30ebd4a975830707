import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'
import { createRandom } from '@tokenwell/internal-testing/random'

type Random = () => number
type Json = Record<string, unknown>

/** What is signed, and with what: an attacker changes one part of it, or the result. */
export interface Draft {
  readonly header: Json
  readonly claims: Json
  readonly key: CryptoKey | Uint8Array
}

const pick = <Item>(random: Random, items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)] as Item

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Also what jose does not sign. */
async function sign({ header, claims, key }: Draft): Promise<string> {
  const signed = await new SignJWT(claims as never)
    .setProtectedHeader(header as never)
    .sign(key)
    .catch(() => undefined)
  return signed ?? `${encode(header)}.${encode(claims)}.${Buffer.alloc(64, 7).toString('base64url')}`
}

/** Values that no claim may have, whatever its type. */
const oddValues = [null, true, -1, 1e308, 1.5, '', [], [[]], {}, { length: 1 }, 'x'.repeat(600)]

/** Creates JWTs that the service must reject, from drafts that it would accept. */
export async function createHostileJwts(
  seed: number,
  draft: () => Draft,
  /** Changes of claims that must not matter to the one who signs, and do to the service. */
  wrongClaims: Readonly<Record<string, readonly unknown[]>>,
) {
  const random = createRandom(seed)
  const stranger = await generateKeyPair('ES256', { extractable: true })
  const strangerJwk = await exportJWK(stranger.publicKey)

  const withClaim = (name: string, value: unknown): Draft => {
    const { claims, ...rest } = draft()
    return { ...rest, claims: { ...claims, [name]: value } }
  }
  const withHeader = (changes: Json): Draft => {
    const { header, ...rest } = draft()
    return { ...rest, header: { ...header, ...changes } }
  }
  const kinds: readonly (() => Promise<string>)[] = [
    // A bit of what is signed, or of the signature itself, is flipped.
    async () => {
      const parts = (await sign(draft())).split('.')
      const part = Math.floor(random() * 3)
      const bytes = Buffer.from(parts[part]!, 'base64url')
      bytes[Math.floor(random() * bytes.length)]! ^= 1 << Math.floor(random() * 8)
      return parts.with(part, bytes.toString('base64url')).join('.')
    },
    async () => {
      const name = pick(random, Object.keys(wrongClaims))
      return sign(withClaim(name, pick(random, [...wrongClaims[name]!, ...oddValues])))
    },
    async () => sign(withClaim(pick(random, Object.keys(wrongClaims)), undefined)),
    async () => sign({ ...draft(), key: stranger.privateKey }),
    async () => {
      const alg = pick(random, [
        'none',
        'None',
        'HS256',
        'HS512',
        'es256',
        'ES256K',
        'RSA1_5',
        '',
        'dir',
        'RS1',
      ])
      return sign(withHeader({ alg }))
    },
    // The public key as the secret of an HMAC.
    async () => {
      const secret = Buffer.from(JSON.stringify(strangerJwk))
      return sign({ ...withHeader({ alg: 'HS256' }), key: secret })
    },
    async () => sign(withHeader({ crit: [pick(random, ['exp', 'b64', 'x'])], b64: false })),
    async () => {
      const [header, claims] = (await sign(draft())).split('.')
      return pick(random, [
        `${header}.${claims}.`,
        `${header}.${claims}`,
        `${header}..x`,
        `.${claims}.x`,
        `${header}.${claims}.x.y`,
      ])
    },
  ]
  return {
    random,
    strangerJwk,
    withHeader,
    sign,
    next: (further: readonly (() => Promise<string>)[] = []) => pick(random, [...kinds, ...further])(),
  }
}

/** Keys in the header of a proof that prove nothing. */
export function oddKeys(jwk: JWK, privateJwk: JWK, strangerJwk: JWK): readonly unknown[] {
  return [
    undefined,
    null,
    {},
    [],
    'x',
    privateJwk,
    strangerJwk,
    { ...jwk, x: strangerJwk.x },
    { ...jwk, x: '' },
    { ...jwk, crv: 'P-384' },
    { ...jwk, kty: 'oct', k: 'c2VjcmV0' },
    { ...jwk, kty: 'RSA' },
    { kty: 'oct', k: 'c2VjcmV0' },
    { kty: 'RSA', e: 'AQAB', n: 'AQAB' },
  ]
}
