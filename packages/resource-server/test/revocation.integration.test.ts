import { expect, it, onTestFinished } from 'vitest'
import { clientCredentials } from '@tokenwell/core'
import { createFakeClock } from '@tokenwell/core/testing'
import { createTokenVerifier } from '@tokenwell/resource-server'
import { startTokenService } from '@tokenwell/token-service'

it('rejects a token that our token service has revoked, after cacheMs at the latest', async () => {
  const client = { clientId: 'client', clientSecret: 'client-secret' }
  const api = { clientId: 'orders-api', clientSecret: 'orders-secret' }
  const service = await startTokenService({
    applications: [{ name: 'client', ...client }],
    resourceServers: [api],
  })
  onTestFinished(() => service.close())
  const { authUrl } = service
  const { value } = await clientCredentials({ authUrl, ...client }).getToken()
  const clock = createFakeClock(Date.now())
  const verifier = createTokenVerifier({ introspection: { authUrl, ...api, cacheMs: 500 }, clock })
  const isAccepted = () =>
    verifier.verify(`Bearer ${value}`).then(
      () => true,
      () => false,
    )
  expect(await isAccepted()).toBe(true)
  const form = { client_id: client.clientId, client_secret: client.clientSecret, token: value }
  await fetch(`${authUrl}/oauth/revoke`, { method: 'POST', body: new URLSearchParams(form) })
  clock.advance(500)
  expect(await isAccepted()).toBe(false)
})
