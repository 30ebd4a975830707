import { startTokenService, type TokenServiceOptions } from '@tokenwell/token-service'
import { client, form, type TokenServer } from './token-server.ts'

export const tokenPath = '/oauth/client_credential/accesstoken?grant_type=client_credentials'

/** The service as a test starts it, everything in memory, unless a database is passed. */
export async function start(options: TokenServiceOptions = {}): Promise<TokenServer> {
  const applications = [
    { name: 'benchmark', clientId: client.id, clientSecret: client.secret, products: ['speech-to-text'] },
  ]
  const service = await startTokenService({ ...options, applications })
  return { url: service.authUrl + tokenPath, bodies: [form], close: () => service.close() }
}
