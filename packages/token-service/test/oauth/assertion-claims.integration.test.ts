import { describe, expect, it } from 'vitest'
import { testService } from '../test-service.ts'
import { assertionFor, jwksOf, keyClientId, pair, present, type Assertion } from './client-assertion.ts'

async function keyService() {
  const applications = [{ name: 'by key', clientId: keyClientId, jwks: await jwksOf(pair.publicKey) }]
  const { authUrl } = await testService({ applications })
  return {
    authUrl,
    outcome: async (changes: Assertion) => {
      const { status, body } = await present(authUrl, await assertionFor(authUrl, changes))
      return status === 200 ? 'accepted' : `${status} ${body.Error}`
    },
  }
}

describe('an assertion', () => {
  it.each([
    ['x'.repeat(512), true],
    ['x'.repeat(513), false],
    ['', false],
    [1 as never, false],
  ])('needs an ID of 1 to 512 characters: %j', async (jti, isAccepted) => {
    const { outcome } = await keyService()
    expect(await outcome({ claims: { jti } })).toBe(
      isAccepted
        ? 'accepted'
        : '401 A claim of the client assertion is missing, invalid, expired or already used : jti',
    )
  })

  it.each(['a.b', 'a.b.c.d', ' a.b.c', 'a.b.c ', 'a..c', 'a.b.c!', `a.b.${'c'.repeat(16_381)}`])(
    'has three parts, and 16,384 characters at most: %#',
    async (assertion) => {
      const { authUrl } = await keyService()
      const { status, body } = await present(authUrl, assertion)
      expect([status, body.Error]).toEqual([400, 'A parameter is malformed : client_assertion'])
    },
  )

  it('of 16,384 characters is read', async () => {
    const { authUrl } = await keyService()
    expect((await present(authUrl, `a.b.${'c'.repeat(16_380)}`)).status).toBe(401)
  })

  it('must name its type', async () => {
    const { authUrl } = await keyService()
    const assertion = await assertionFor(authUrl)
    const typeless = await present(authUrl, assertion, { client_assertion_type: '' })
    expect(typeless.body.Error).toBe('The request is missing a required parameter : client_assertion_type')
    const alone = await present(authUrl, '')
    expect(alone.body.Error).toBe('The request is missing a required parameter : client_assertion')
  })
})
