import { clientCredentials, createTokenProvider } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import ky from 'ky'
import { readTranscript } from '../read-transcript.ts'
import type { Connection, SpeechClient } from './speech-client.ts'

export function createKyClient({ speechUrl, onEvent, ...credentials }: Connection): SpeechClient {
  const tokens = createTokenProvider(clientCredentials(credentials), { onEvent })
  const api = ky
    .create({ prefix: speechUrl, throwHttpErrors: false, timeout: false })
    .extend(tokenHooks(tokens, { allowedOrigins: [new URL(speechUrl).origin] }))

  return {
    async transcribe(recording, { signal } = {}) {
      const response = await api.post('v1/transcriptions', {
        headers: { 'content-type': 'audio/wav' },
        body: recording,
        signal: signal ?? null,
      })
      return readTranscript({
        status: response.status,
        body: await response.json().catch(() => undefined),
        retryAfter: response.headers.get('retry-after'),
      })
    },
    close: () => tokens.close(),
  }
}
