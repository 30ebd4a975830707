import { startSpeechApi } from '@tokenwell/speech-api'
import { startTokenService } from '@tokenwell/token-service'

const api = { clientId: 'speech-api', clientSecret: 'of the speech API' }

/** The applications that the token service of the tests knows. */
export const application = { clientId: 'orders', clientSecret: 'a-secret-that-nobody-may-see' }
export const pageApplication = { clientId: 'orders-page', clientSecret: 'another-secret-that-nobody-may-see' }

export interface TokenServiceOptions {
  readonly products?: readonly string[] | undefined
  /** Of the page's tokens, in seconds. */
  readonly pageLifetime?: number | undefined
}

export function startTokens({ products = ['speech-to-text'], pageLifetime = 300 }: TokenServiceOptions = {}) {
  return startTokenService({
    applications: [
      { ...application, name: 'Orders', products },
      { ...pageApplication, name: 'Orders in a page', products, lifetimeSeconds: pageLifetime },
    ],
    resourceServers: [api],
  })
}

export function startSpeech(
  authUrl: string,
  options: { port?: number; allowedOrigins?: readonly string[] } = {},
) {
  return startSpeechApi({ ...api, authUrl, quiet: true, ...options })
}
