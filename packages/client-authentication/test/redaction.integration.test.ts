import { inspect } from 'node:util'
import { privateKeyJwt } from '@tokenwell/client-authentication'
import { dpop } from '@tokenwell/client-authentication/dpop'
import {
  createMemoryTokenStore,
  createTokenFetch,
  createTokenProvider,
  type TokenStore,
} from '@tokenwell/core'
import { createGrantSource } from '@tokenwell/core/adapter'
import { expectNoSecrets, json, startScriptedServer, type ScriptedServer } from '@tokenwell/internal-testing'
import { exportJWK, generateKeyPair } from 'jose'
import { expect, it, onTestFinished } from 'vitest'

const nonce = 'a-nonce-of-the-server'
const newJwk = async () => exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey)

/** A memory store, and all that is written to it. */
function recordingStore(): { readonly store: TokenStore; readonly written: unknown[] } {
  const written: unknown[] = []
  const memory = createMemoryTokenStore()
  const store: TokenStore = {
    ...memory,
    async lease(...args) {
      const lease = await memory.lease(...args)
      written.push(args)
      return (
        lease && {
          ...lease,
          write: (...token) => (written.push(token), lease.write(...token)),
          writeCooldown: (...cooldown) => (written.push(cooldown), lease.writeCooldown(...cooldown)),
        }
      )
    },
  }
  return { store, written }
}

/** Repeats what was sent, wherever a server could. */
const echo: ScriptedServer['respond'] = ({ headers, body }) => {
  const assertion = new URLSearchParams(body).get('client_assertion')
  const error_description = `${assertion} ${String(headers['dpop'])}`
  return json({ error: 'invalid_client', error_description, fault: { faultstring: assertion } }, 401)
}
const bound = () => json({ access_token: 'the-token', token_type: 'DPoP', expires_in: 600 })

it.each<[string, ScriptedServer['respond'], ScriptedServer['respond']?]>([
  ['the credentials are rejected', echo],
  [
    'the assertion is the error code',
    ({ body }) => json({ error: new URLSearchParams(body).get('client_assertion') }, 400),
  ],
  ['the proof is rejected', () => json({ error: 'invalid_dpop_proof' }, 400, { 'dpop-nonce': nonce })],
  ['no nonce is accepted', () => json({ error: 'use_dpop_nonce' }, 400, { 'dpop-nonce': nonce })],
  ['the token endpoint fails', () => json({}, 500, { 'dpop-nonce': nonce })],
  ['the connection breaks', () => 'drop'],
  ['the response is no token', () => json({ access_token: 7 }, 200, { 'dpop-nonce': nonce })],
  ['the token is not bound', () => json({ access_token: 'the-token', token_type: 'Bearer' })],
  ['the API rejects the token', bound, () => json({}, 401, { 'dpop-nonce': nonce })],
  [
    'the API accepts no nonce',
    bound,
    () => json({}, 401, { 'www-authenticate': 'DPoP error="use_dpop_nonce"', 'dpop-nonce': nonce }),
  ],
  ['the API breaks the connection', bound, () => 'drop'],
])('shows no key, assertion, proof or nonce if %s', async (_name, respond, respondAsApi = () => json({})) => {
  const [server, api] = await Promise.all([startScriptedServer(respond), startScriptedServer(respondAsApi)])
  onTestFinished(async () => void (await Promise.all([server.close(), api.close()])))
  const [key, keyPair] = await Promise.all([newJwk(), newJwk()])
  const { store, written } = recordingStore()
  const seen: unknown[] = []
  const source = createGrantSource({
    tokenEndpoint: `${server.origin}/token`,
    clientId: 'client',
    clientAuthentication: privateKeyJwt({ key }),
    binding: dpop({ keyPair }),
  })
  const tokens = createTokenProvider(source, { store, maxAttempts: 2, onEvent: (event) => seen.push(event) })
  const send = createTokenFetch(tokens, { allowedOrigins: [api.origin] })
  for (let count = 0; count < 2; count++) {
    seen.push(await tokens.getToken().catch((error: unknown) => error))
    seen.push(await send(api.origin).catch((error: unknown) => error))
  }
  seen.push(tokens, source, tokens.peekToken(), written, await source.cacheKey())
  await tokens.close()

  const requests = [...server.requests, ...api.requests]
  const proofs = requests.map(({ headers }) => String(headers['dpop']))
  const assertions = server.requests.map(({ body }) => new URLSearchParams(body).get('client_assertion')!)
  expect(proofs.length).toBeGreaterThan(0)
  expect(assertions.every((assertion) => assertion.split('.').length === 3)).toBe(true)
  expect(new Set(assertions).size).toBe(assertions.length)
  const secrets = [key.d!, keyPair.d!, ...proofs, ...assertions]
  // A response of an API shows its own headers, and nothing else does.
  // Not by `instanceof`: a test that ran before in this process may have replaced the global class.
  const others = seen.filter((each) => Object.prototype.toString.call(each) !== '[object Response]')
  expectNoSecrets(seen, secrets)
  expectNoSecrets(others, [nonce])
  expect(inspect(written)).not.toContain(nonce)
})
