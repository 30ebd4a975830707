import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, exportSPKI } from 'jose'
import { describe, expect, it } from 'vitest'
import { keyName, parsePublicKeys } from '../../../src/features/credentials/public-keys.ts'
import { UsageError } from '../../../src/runtime/usage-error.ts'

const curve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve })
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength })
const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()

describe('a public key', () => {
  it.each([
    ['RSA with 2048 bits', rsa(2048)],
    ['P-256', curve('P-256')],
    ['P-384', curve('P-384')],
    ['P-521', curve('P-521')],
    ['Ed25519', generateKeyPairSync('ed25519')],
  ])('is accepted as PEM, JWK and JWK set, and named after its thumbprint: %s', async (_kind, pair) => {
    const jwk = await exportJWK(pair.publicKey)
    const name = await calculateJwkThumbprint(jwk)
    const set = {
      keys: [{ ...jwk, kid: 'first', alg: 'X', use: 'sig', x5u: 'https://x' }, jwk, { ...jwk, use: 'enc' }],
    }
    expect(parsePublicKeys(`\n${await exportSPKI(pair.publicKey)}\n`)).toEqual([{ jwk }])
    expect(parsePublicKeys(` ${JSON.stringify(jwk)}\n`)).toEqual([{ jwk }])
    const keys = parsePublicKeys(JSON.stringify(set))
    expect(keys).toEqual([{ jwk: { ...jwk, kid: 'first', alg: 'X' } }, { jwk }])
    expect(keys.map(keyName)).toEqual(['first', name])
    const odd = { ...jwk, kid: 1, alg: 2 }
    expect(parsePublicKeys(JSON.stringify(odd))).toEqual([{ jwk }])
  })

  it('can be the https URL of a JWK set, which is its name', () => {
    const [key] = parsePublicKeys(' HTTPS://keys.example.com ')
    expect(key).toEqual({ jwksUrl: 'https://keys.example.com/' })
    expect(key && keyName(key)).toBe('https://keys.example.com/')
  })

  const weak =
    /^The public key cannot be used\. Use RSA with 2048 bits or more, P-256, P-384, P-521 or Ed25519\.$/
  const secret = /^This is a private or symmetric key, which must never be shared/
  const invalid = /^The public key is invalid\. Use PEM, a JWK, a JWK set, or the https URL of a JWK set\.$/
  const url = /^The URL of a JWK set must start with https:\/\/ and contain no user name or password\.$/
  const { privateKey } = curve('P-256')
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  it.each<[kind: string, text: string, reason: RegExp]>([
    ['a short RSA key', spki(rsa(1024).publicKey), weak],
    ['another curve', spki(curve('secp256k1').publicKey), weak],
    ['a key that cannot sign', spki(generateKeyPairSync('x25519').publicKey), weak],
    ['a private key as PEM', pkcs8, secret],
    ['a private key as JWK', JSON.stringify(privateKey.export({ format: 'jwk' })), secret],
    ['a symmetric key', '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}', secret],
    ['other text', 'canary', invalid],
    ['a JWK without members', '{"kty":"EC"}', invalid],
    ['a URL without TLS', 'http://keys.example.com/canary', url],
    ['a URL with a user name', 'https://canary@keys.example.com', url],
    ['a URL with a password', 'https://:canary@keys.example.com', url],
    ['a URL that is not valid', 'https://[canary', url],
    ['broken JSON', '{"keys": [canary', /^The JWK set is not valid JSON\.$/],
    ['a set without keys', '{"keys":[]}', /^The JWK set contains no key that can verify signatures\.$/],
    ['a set that contains nothing', '{"keys":[null]}', /^The JWK set contains no key/],
    ['a set that contains a number', '{"keys":[1]}', invalid],
    ['a key for encryption', '{"kty":"EC","use":"enc"}', /^The JWK set contains no key/],
  ])('is rejected with a reason if it is %s', (_kind, text, reason) => {
    let thrown: unknown
    try {
      parsePublicKeys(text)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(UsageError)
    expect((thrown as UsageError).message).toMatch(reason)
    expect(String(thrown)).not.toContain('canary')
  })
})
