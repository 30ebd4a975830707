import { randomBytes } from 'node:crypto'
import { startSpeechApi } from '@tokenwell/speech-api'
import { startTokenService } from '@tokenwell/token-service'
import type { Platform } from './platform.ts'

/** Starts a token service and a speech API on free ports of this machine, with secrets made up for the occasion. */
export async function startLocalPlatform(): Promise<Platform> {
  const application = { clientId: 'speech-to-text', clientSecret: randomSecret() }
  const api = { clientId: 'speech-api', clientSecret: randomSecret() }
  const tokenService = await startTokenService({
    applications: [{ ...application, name: 'Speech to text', products: ['speech-to-text'] }],
    resourceServers: [api],
  })
  const { authUrl } = tokenService
  const speechApi = await startSpeechApi({ ...api, authUrl, quiet: true })
  return {
    ...application,
    authUrl,
    speechUrl: speechApi.url,
    async close() {
      await speechApi.close()
      await tokenService.close()
    },
  }
}

function randomSecret(): string {
  return randomBytes(24).toString('base64url')
}
