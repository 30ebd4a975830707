import { createHash, X509Certificate } from 'node:crypto'
import { createServer, request as send, type RequestOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import express from 'express'
import Fastify from 'fastify'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requireToken } from '@tokenwell/resource-server/express'
import { resourceServer } from '@tokenwell/resource-server/fastify'
import { createTestVerifier } from '@tokenwell/resource-server/testing'

const { verifier, createTestToken } = createTestVerifier()
const certificate = () => generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048 })
let server: Awaited<ReturnType<typeof certificate>>
let client: typeof server
let otherClient: typeof server
let token: string
const apis: { readonly port: number; close(): unknown }[] = []

const thumbprintOf = (pem: string) =>
  createHash('sha256').update(new X509Certificate(pem).raw).digest('base64url')

beforeAll(async () => {
  ;[server, client, otherClient] = await Promise.all([certificate(), certificate(), certificate()])
  token = createTestToken({ claims: { cnf: { 'x5t#S256': thumbprintOf(client.cert) } } })
  const tls = { key: server.private, cert: server.cert, requestCert: true, rejectUnauthorized: false }
  const app = express().use(requireToken(verifier), (_request, response) => void response.json({}))
  const node = createServer(tls, app)
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  const fastify = Fastify({ https: tls, forceCloseConnections: true })
  fastify.register(resourceServer, { verifier })
  fastify.get('/', async () => ({}))
  await fastify.listen({ host: '127.0.0.1', port: 0 })
  apis.push(
    { port: (node.address() as AddressInfo).port, close: () => node.close() },
    { port: (fastify.server.address() as AddressInfo).port, close: () => fastify.close() },
  )
})
afterAll(() => Promise.all(apis.map((api) => api.close())))

function statusOf(port: number, options: RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    send(
      { host: '127.0.0.1', port, rejectUnauthorized: false, agent: false, ...options, headers },
      (response) => {
        response.resume()
        resolve(response.statusCode!)
      },
    )
      .on('error', reject)
      .end()
  })
}

describe.each(['Express', 'Fastify'])('a token bound to a certificate, at %s', (name) => {
  const port = () => apis[name === 'Express' ? 0 : 1]!.port
  it('is accepted over a connection with that certificate', async () => {
    expect(await statusOf(port(), { key: client.private, cert: client.cert })).toBe(200)
  })
  it('is rejected over a connection with another one', async () => {
    expect(await statusOf(port(), { key: otherClient.private, cert: otherClient.cert })).toBe(401)
  })
  it('is rejected over a connection without one', async () => {
    expect(await statusOf(port(), {})).toBe(401)
  })
})

describe('a certificate that a proxy passes on', () => {
  const accepted = (clientCertificate: string | Uint8Array | undefined) =>
    verifier
      .verify(`Bearer ${token}`, {
        request: { method: 'GET', url: 'https://orders.example.com/', clientCertificate },
      })
      .then(
        () => true,
        () => false,
      )
  it.each<[string, () => string | Uint8Array | undefined, boolean]>([
    ['as DER', () => new X509Certificate(client.cert).raw, true],
    ['as PEM', () => client.cert, true],
    ['as PEM, percent-encoded', () => encodeURIComponent(client.cert), true],
    ['as Base64', () => new X509Certificate(client.cert).raw.toString('base64'), true],
    ['but is another', () => otherClient.cert, false],
    ['but cannot be read', () => '%%%', false],
    ['but is missing', () => undefined, false],
  ])('%s', async (_name, passed, expected) => {
    expect(await accepted(passed())).toBe(expected)
  })
})
