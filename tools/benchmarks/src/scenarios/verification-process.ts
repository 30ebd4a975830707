// One verifier in a separate process, so that it is not compiled for another's calls.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { fastestWindow } from '../method/fastest-window.ts'
import { givenArgument, report } from '../method/run-process.ts'
import { verifiers, type VerifierId } from '../verifiers/verifiers.ts'

const { id } = givenArgument() as { id: VerifierId }
const { privateKey, publicKey } = await generateKeyPair('RS256')
const key = { ...(await exportJWK(publicKey)), alg: 'RS256', kid: 'key' }
const server = createServer((_request, response) => void response.end(JSON.stringify({ keys: [key] })))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const audience = 'https://orders.example.com'
const now = Math.floor(Date.now() / 1000)
const jwt = await new SignJWT({ client_id: 'client', scope: 'orders:read', jti: 'token', sub: 'client' })
  .setProtectedHeader({ alg: 'RS256', kid: 'key', typ: 'at+jwt' })
  .setIssuer(issuer)
  .setAudience(audience)
  .setIssuedAt(now)
  .setExpirationTime(now + 3_600)
  .sign(privateKey)

const api = await verifiers[id].open({ issuer, audience, jwt })
for (const [path, token, expected] of [
  ['/open', api.token, 200],
  ['/protected', api.token, 200],
  ['/protected', 'other', 401],
] as const) {
  const status = await api.call(path, token)
  if (status !== expected) throw new Error(`${id} responds to ${path} with ${status} instead of ${expected}`)
}
const [protectedNs, openNs] = await fastestWindow([
  () => api.call('/protected', api.token),
  () => api.call('/open', api.token),
])
report({ protectedNs, openNs })
