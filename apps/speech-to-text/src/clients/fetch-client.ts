import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import { readTranscript } from '../read-transcript.ts'
import type { Connection, SpeechClient } from './speech-client.ts'

export function createFetchClient({ speechUrl, onEvent, ...credentials }: Connection): SpeechClient {
  const tokens = createTokenProvider(clientCredentials(credentials), { onEvent })
  const apiFetch = createTokenFetch(tokens, { allowedOrigins: [new URL(speechUrl).origin] })

  return {
    async transcribe(recording, { signal } = {}) {
      const response = await apiFetch(`${speechUrl}/v1/transcriptions`, {
        method: 'POST',
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
