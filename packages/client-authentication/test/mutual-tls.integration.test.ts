import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { clientCredentials, createTokenProvider } from '@tokenwell/core'
import { mutualTls, type MutualTlsOptions } from '@tokenwell/client-authentication/mtls'
import { exportJWK, importX509 } from 'jose'
import { generate } from 'selfsigned'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { startOidcProvider, type OidcProvider } from './servers/oidc-provider.ts'

const create = (commonName: string) =>
  generate([{ name: 'commonName', value: commonName }], {
    keySize: 2048,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  })
let server: Awaited<ReturnType<typeof create>>
let client: typeof server
let other: typeof server
beforeAll(async () => {
  ;[server, client, other] = await Promise.all([create('localhost'), create('orders'), create('orders')])
})

const tlsOf = (ca?: string) => ({ key: server.private, cert: server.cert, ...(ca && { ca }) })
const jwksOf = async (...certificates: string[]) => ({
  keys: await Promise.all(
    certificates.map(async (cert, index) => ({
      ...(await exportJWK(await importX509(cert, 'RS256'))),
      kid: String(index),
      x5c: [new X509Certificate(cert).raw.toString('base64')],
    })),
  ),
})

function tokensOf({ tokenEndpoint }: OidcProvider, options: Pick<MutualTlsOptions, 'cert' | 'key'>) {
  const { close, ...tls } = mutualTls({ ca: server.cert, ...options })
  onTestFinished(close)
  return createTokenProvider(clientCredentials({ tokenEndpoint, clientId: 'client', ...tls }), {
    maxAttempts: 1,
  })
}

it('authenticates with a certificate that the server knows (self_signed_tls_client_auth)', async () => {
  const provider = await startOidcProvider(
    { token_endpoint_auth_method: 'self_signed_tls_client_auth', jwks: await jwksOf(client.cert) },
    { tls: tlsOf() },
  )
  onTestFinished(() => provider.close())
  const token = await tokensOf(provider, { cert: client.cert, key: client.private }).getToken()
  expect(token.value).toBeTypeOf('string')
  expect(Object.fromEntries(provider.requests[0]!)).toEqual({
    grant_type: 'client_credentials',
    client_id: 'client',
  })
  await expect(tokensOf(provider, { cert: other.cert, key: other.private }).getToken()).rejects.toMatchObject(
    {
      kind: 'credentials',
    },
  )
})

it('authenticates with a certificate of an authority (tls_client_auth)', async () => {
  const provider = await startOidcProvider(
    { token_endpoint_auth_method: 'tls_client_auth', tls_client_auth_subject_dn: 'orders' },
    { tls: tlsOf(client.cert) },
  )
  onTestFinished(() => provider.close())
  const token = await tokensOf(provider, { cert: client.cert, key: client.private }).getToken()
  expect(token.value).toBeTypeOf('string')
})

it('uses a replaced certificate for the next request', async () => {
  const provider = await startOidcProvider(
    { token_endpoint_auth_method: 'self_signed_tls_client_auth', jwks: await jwksOf(other.cert) },
    { tls: tlsOf() },
  )
  onTestFinished(() => provider.close())
  let current = client
  const tokens = tokensOf(provider, { cert: () => current.cert, key: () => current.private })
  await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
  current = other
  await expect(tokens.getToken()).resolves.toMatchObject({ value: expect.any(String) })
})

it('keeps its connections for the next requests', async () => {
  const tls = mutualTls({ ca: server.cert, cert: client.cert, key: client.private })
  const ports = new Set<number | undefined>()
  const api = createServer(tlsOf(), ({ socket }, response) => {
    ports.add(socket.remotePort)
    response.end()
  })
  api.listen(0, '127.0.0.1')
  await once(api, 'listening')
  onTestFinished(async () => {
    await tls.close()
    api.close()
  })
  for (let time = 0; time < 10; time++) {
    await (await tls.fetch(`https://localhost:${(api.address() as AddressInfo).port}`)).text()
  }
  expect(ports.size).toBeLessThan(10)
})

it('identifies the certificate', async () => {
  const printOf = ({ cert, private: key }: typeof client) =>
    mutualTls({ cert, key }).clientAuthentication.fingerprint()
  expect(printOf(client)).toBe(printOf(client))
  expect(printOf(client)).not.toBe(printOf(other))
  expect(() => mutualTls({ cert: 'text', key: 'text' }).clientAuthentication.fingerprint()).toThrow(
    'cert is not a PEM certificate, which starts with -----BEGIN CERTIFICATE-----.',
  )
})
