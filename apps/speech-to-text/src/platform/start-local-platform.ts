import { randomBytes } from 'node:crypto'
import { startSpeechApi } from '@tokenwell/speech-api'
import { startTokenService } from '@tokenwell/token-service'
import type { LocalPlatform } from './connection.ts'

export interface LocalPlatformOptions {
  /** Origins of pages that may call the speech API. */
  readonly pageOrigins?: readonly string[] | undefined
}

/** Starts a token service and a speech API on free ports of this machine, with random secrets. */
export async function startLocalPlatform({
  pageOrigins = [],
}: LocalPlatformOptions = {}): Promise<LocalPlatform> {
  const application = { clientId: 'speech-to-text', clientSecret: randomSecret() }
  const page = { clientId: 'speech-to-text-page', clientSecret: randomSecret() }
  const api = { clientId: 'speech-api', clientSecret: randomSecret() }
  const products = ['speech-to-text']
  const tokenService = await startTokenService({
    applications: [
      { ...application, name: 'Speech to text', products },
      // Anybody can read the token of a page: it covers one product and expires soon.
      { ...page, name: 'Speech to text in a page', products, lifetimeSeconds: 300 },
    ],
    resourceServers: [api],
    sandbox: true,
  })
  const { authUrl, sandboxUrl } = tokenService
  const speechApi = await startSpeechApi({
    ...api,
    authUrl,
    allowedOrigins: pageOrigins,
    quiet: true,
    // So that one sees soon what a revocation does.
    introspectionCacheMs: 1_000,
  })
  return {
    ...application,
    page,
    authUrl,
    speechUrl: speechApi.url,
    sandboxUrl: sandboxUrl!,
    async close() {
      await speechApi.close()
      await tokenService.close()
    },
  }
}

function randomSecret(): string {
  return randomBytes(24).toString('base64url')
}
