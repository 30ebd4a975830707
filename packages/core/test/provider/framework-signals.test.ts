import { backendTokens, createTokenProvider, discover, type TokenSource } from '@tokenwell/core'
import { describe, expect, it } from 'vitest'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, sourceOf } from '../support/scripted-endpoint.ts'

useFakeTime()

const issuer = 'https://login.example.com'
// Metadata of an issuer and a token at once.
const body = {
  issuer,
  token_endpoint: `${issuer}/token`,
  access_token: 'token',
  token_type: 'Bearer',
  expires_in: 60,
}

describe.each<[string, (endpoint: ScriptedEndpoint) => TokenSource]>([
  ['client credentials', (endpoint) => sourceOf(endpoint)],
  [
    'client credentials of an issuer',
    (endpoint) => sourceOf(endpoint, { tokenEndpoint: undefined, issuer: discover(issuer) }),
  ],
  ['a backend', ({ fetch }) => backendTokens({ url: 'https://app.example.com/token', fetch })],
])('a provider of tokens from %s', (_name, createSource) => {
  it.each(['DYNAMIC_SERVER_USAGE', 'HANGING_PROMISE_REJECTION'])(
    'passes on the error %s, which controls rendering in Next.js, without a retry or a cooldown',
    async (digest) => {
      const signal = Object.assign(new Error('used no-store fetch'), { digest })
      const endpoint = new ScriptedEndpoint((request) => (request === 1 ? { error: signal } : { body }))
      const tokens = createTokenProvider(createSource(endpoint))
      const first = watch(tokens.getToken())
      await pass(100)
      expect(first.error).toBe(signal)
      expect(endpoint.requests).toHaveLength(1)
      const second = watch(tokens.getToken())
      await pass(100)
      expect(second.value).toMatchObject({ tokenType: 'Bearer' })
    },
  )
})
