import { randomBytes } from 'node:crypto'
import { startSpeechApi } from '@tokenwell/speech-api'
import { startTokenService } from '@tokenwell/token-service'

/** Services that were started for this application. */
export interface LocalPlatform {
  /** The variables of a deployment that uses them. */
  readonly environment: Readonly<Record<string, string>>
  close(): Promise<void>
}

/**
 * Starts a token service and a speech API on free ports of this machine, with random secrets.
 *
 * @param pageOrigins origins of pages that may call the speech API
 */
export async function startLocalPlatform(pageOrigins: readonly string[] = []): Promise<LocalPlatform> {
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
    introspectionCacheMs: 1_000, // so that one sees soon what a revocation does
  })
  return {
    environment: {
      AUTH_URL: authUrl,
      SPEECH_URL: speechApi.url,
      SANDBOX_URL: sandboxUrl!,
      CLIENT_ID: application.clientId,
      CLIENT_SECRET: application.clientSecret,
      PAGE_AUTH_URL: authUrl,
      PAGE_CLIENT_ID: page.clientId,
      PAGE_CLIENT_SECRET: page.clientSecret,
    },
    async close() {
      await speechApi.close()
      await tokenService.close()
    },
  }
}

function randomSecret(): string {
  return randomBytes(24).toString('base64url')
}
