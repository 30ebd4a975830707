import { isTokenError } from '@tokenwell/core'
import { metadataUrl } from '@tokenwell/core/protocol'
import { describe, expect, it } from 'vitest'

const resultOf = (url: unknown, issuer: string, allowInsecureRequests?: boolean): string => {
  try {
    return metadataUrl('jwks_uri', url, issuer, allowInsecureRequests).href
  } catch (error) {
    return isTokenError(error) ? error.message : 'no TokenError'
  }
}

describe('an address in the metadata of an issuer', () => {
  const remote = 'https://login.example.net'

  it.each([
    'https://127.0.0.1/keys',
    'http://127.8.9.10:8500/v1/agent/leave?token=x',
    'https://localhost/keys',
    'https://auth.localhost/keys',
    'https://localhost./keys',
    'https://[::1]/keys',
    'https://[::]/keys',
    'https://0.0.0.0/keys',
    'https://2130706433/keys',
    'https://[::ffff:127.0.0.1]/keys',
    'https://169.254.169.254/latest/meta-data',
    'https://[::ffff:169.254.169.254]/keys',
    'https://[fe80::1]/keys',
  ])('is not one of this machine, or of its cloud, unless the issuer is: %s', (url) => {
    const message = `jwks_uri of the issuer "${remote}" is an address of this machine.`
    expect(resultOf(url, remote)).toBe(message)
    expect(resultOf(url, remote, true)).toBe(message)
    expect(resultOf(url, 'http://127.0.0.1:8080')).toBe(new URL(url).href)
  })

  it('may be in a private network, and is https', () => {
    for (const host of [
      '10.0.0.1',
      '192.168.1.2',
      'keys.internal',
      '[fd00::1]',
      '1.127.0.1',
      'localhost.example.net',
    ]) {
      expect(resultOf(`https://${host}/keys`, remote)).toBe(`https://${host}/keys`)
      expect(resultOf(`http://${host}/keys`, remote)).toContain('must start with https://')
      expect(resultOf(`http://${host}/keys`, remote, true)).toBe(`http://${host}/keys`)
    }
  })
})
