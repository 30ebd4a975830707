import { describe, expect, it } from 'vitest'
import { openidProviderSettings } from '../../../src/features/people/openid-provider-settings.ts'

const accepts = (issuer: string): boolean =>
  openidProviderSettings.safeParse({
    name: 'Example ID',
    clientId: 'portal',
    clientSecret: 'secret',
    developerGroups: '*',
    issuer,
  }).success

describe('the issuer of the OpenID provider', () => {
  it.each([
    'https://id.example.com',
    'https://id.example.com/realms/a/',
    'http://127.0.0.1:8080',
    'http://[::1]/a',
  ])('may be %s', (issuer) => expect(accepts(issuer)).toBe(true))

  it.each([
    'http://id.example.com',
    'http://localhost.example.net/realms/a',
    'http://127.0.0.1.example.net',
    'http://localhost@id.example.net',
    'https://user@id.example.com',
    'https://id.example.com?a=b',
    'https://id.example.com/?',
    'https://id.example.com#a',
    'ftp://localhost',
    'id.example.com',
  ])('may not be %s', (issuer) => expect(accepts(issuer)).toBe(false))
})
