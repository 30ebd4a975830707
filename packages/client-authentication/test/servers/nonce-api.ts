import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createTokenVerifier,
  TokenVerificationError,
  type TokenVerifierOptions,
} from '@tokenwell/resource-server'
import { decodeJwt } from 'jose'
import { onTestFinished } from 'vitest'

/** An API whose verifier checks proofs, and which requires a nonce in them, (RFC 9449, section 9). */
export async function startNonceApi(options: TokenVerifierOptions) {
  const api = { origin: '', nonce: 'first-nonce', proofs: [] as string[] }
  const verifier = createTokenVerifier(options)
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request
    const proof = String(headers['dpop'])
    api.proofs.push(proof)
    request.resume()
    if (headers['dpop'] && decodeJwt(proof)['nonce'] !== api.nonce) {
      const challenge = { 'www-authenticate': 'DPoP error="use_dpop_nonce"', 'dpop-nonce': api.nonce }
      return response.writeHead(401, challenge).end()
    }
    try {
      const verified = { method, url: api.origin + url, dpop: headers['dpop'] as string }
      await verifier.verify(headers.authorization, { request: verified })
      response.writeHead(200, { 'dpop-nonce': api.nonce }).end('accepted')
    } catch (error) {
      if (!(error instanceof TokenVerificationError)) throw error
      response.writeHead(error.status, error.headers).end(JSON.stringify(error.body))
    }
  }
  const server = createServer((request, response) => void respond(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  api.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return api
}
