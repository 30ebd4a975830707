import { attachTokens } from '@tokenwell/axios-interceptor'
import { clientCredentials, createTokenProvider } from '@tokenwell/core'
import { create } from 'axios'
import { readTranscript } from '../read-transcript.ts'
import type { Connection, SpeechClient } from './speech-client.ts'

export function createAxiosClient({ speechUrl, onEvent, ...credentials }: Connection): SpeechClient {
  const tokens = createTokenProvider(clientCredentials(credentials), { onEvent })
  const api = create({ baseURL: speechUrl, validateStatus: null })
  attachTokens(api, tokens)

  return {
    async transcribe(recording, { signal } = {}) {
      const { status, data, headers } = await api.post('/v1/transcriptions', recording, {
        headers: { 'content-type': 'audio/wav' },
        ...(signal && { signal }),
      })
      return readTranscript({ status, body: data, retryAfter: headers['retry-after'] })
    },
    close: () => tokens.close(),
  }
}
