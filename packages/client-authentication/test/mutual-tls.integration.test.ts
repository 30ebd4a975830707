import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { clientCredentials } from '@tokenwell/core'
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
  return clientCredentials({ tokenEndpoint, clientId: 'client', ...tls, maxAttempts: 1 })
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

/** An API that reports the certificate and the port of each request. */
async function startApi(requests: { cert: string; port: number | undefined }[]): Promise<string> {
  const options = { ...tlsOf(), requestCert: true, rejectUnauthorized: false }
  const api = createServer(options, ({ socket }, response) => {
    requests.push({
      cert: (socket as TLSSocket).getPeerCertificate().fingerprint256,
      port: socket.remotePort,
    })
    response.end()
  })
  api.listen(0, '127.0.0.1')
  await once(api, 'listening')
  onTestFinished(() => {
    api.closeAllConnections()
    api.close()
  })
  return `https://localhost:${(api.address() as AddressInfo).port}`
}

it('keeps its connections for the next requests', async () => {
  const tls = mutualTls({ ca: server.cert, cert: client.cert, key: client.private })
  onTestFinished(() => tls.close())
  const requests: { cert: string; port: number | undefined }[] = []
  const url = await startApi(requests)
  for (let time = 0; time < 10; time++) await (await tls.fetch(url)).text()
  expect(new Set(requests.map(({ port }) => port)).size).toBeLessThan(10)
})

it('fails no request while certificate and key are replaced one after the other, 200 times under load', async () => {
  const requests: { cert: string; port: number | undefined }[] = []
  const url = await startApi(requests)
  const files = { cert: client.cert, key: client.private }
  const tls = mutualTls({ ca: server.cert, cert: () => files.cert, key: () => files.key })
  onTestFinished(() => tls.close())
  const load = { isRunning: true }
  const call = async () => {
    while (load.isRunning) await (await tls.fetch(url)).text()
  }
  const callers = Array.from({ length: 4 }, call)
  for (let rotation = 0; rotation < 200; rotation++) {
    const next = rotation % 2 === 0 ? other : client
    files.cert = next.cert
    await (await tls.fetch(url)).text()
    files.key = next.private
    requests.length = 0
    await (await tls.fetch(url)).text()
    expect(requests.at(-1)?.cert).toBe(new X509Certificate(next.cert).fingerprint256)
  }
  load.isRunning = false
  await Promise.all(callers)
})

it('can be used after it was closed, and closed again after a rotation', async () => {
  const requests: { cert: string; port: number | undefined }[] = []
  const url = await startApi(requests)
  let current = client
  const tls = mutualTls({ ca: server.cert, cert: () => current.cert, key: () => current.private })
  await (await tls.fetch(url)).text()
  await tls.close()
  current = other
  await (await tls.fetch(url)).text()
  await tls.close()
  await tls.close()
  expect(requests).toHaveLength(2)
})

it('says in an error of the token endpoint that the former certificate is still in use', async () => {
  const provider = await startOidcProvider(
    { token_endpoint_auth_method: 'self_signed_tls_client_auth', jwks: await jwksOf(other.cert) },
    { tls: tlsOf() },
  )
  onTestFinished(() => provider.close())
  const files = { cert: client.cert, key: client.private }
  const tokens = tokensOf(provider, { cert: () => files.cert, key: () => files.key })
  await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
  files.cert = other.cert
  tokens.reset()
  await expect(tokens.getToken()).rejects.toThrow(
    'The former certificate is still in use: key does not belong to cert.',
  )
  files.key = other.private
  await expect(tokens.getToken()).resolves.toMatchObject({ value: expect.any(String) })
})

it.each([
  ['of another certificate', () => other.private, 'key does not belong to cert.'],
  [
    'that is not PEM',
    () => 'text',
    'key is not a PEM private key, which starts with -----BEGIN PRIVATE KEY-----.',
  ],
  ['in quotation marks', () => `'${client.private}'`, 'It is in quotation marks: remove them.'],
  ['with escaped line breaks', () => client.private.replaceAll('\n', '\\n'), 'as two characters'],
])('rejects a key %s as configuration', async (_what, key, message) => {
  const tls = mutualTls({ cert: client.cert, key: key() })
  await expect(
    clientCredentials({ tokenEndpoint: 'https://localhost:9/token', clientId: 'client', ...tls }).getToken(),
  ).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringContaining(message),
  })
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
