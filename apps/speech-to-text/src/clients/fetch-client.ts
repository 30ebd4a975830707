import { clientCredentials, createTokenFetch } from '@tokenwell/core'
import type { Connection } from '../platform/connection.ts'
import { toSpeechApiResponse } from '../speech/speech-api-response.ts'
import { transcribeRecording, type SendRequest } from '../speech/transcribe-recording.ts'
import type { SpeechClient } from './speech-client.ts'

export function createFetchClient({ speechUrl, onEvent, ...credentials }: Connection): SpeechClient {
  const tokens = clientCredentials({ ...credentials, onEvent })
  const apiFetch = createTokenFetch(tokens, { baseUrl: speechUrl })

  const send: SendRequest = async ({ method, path, form, signal }) => {
    const response = await apiFetch(`/v1/transcriptions${path}`, {
      method,
      ...(form && { body: form }),
      signal: signal ?? null,
    })
    return toSpeechApiResponse(response)
  }
  return {
    transcribe: (recording, options) => transcribeRecording(send, recording, options),
    close: () => tokens.close(),
  }
}
