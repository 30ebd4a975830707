import ky from 'ky'
import { clientCredentials } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import type { Connection } from '../platform/connection.ts'
import { toSpeechApiResponse } from '../speech/speech-api-response.ts'
import { transcribeRecording, type SendRequest } from '../speech/transcribe-recording.ts'
import type { SpeechClient } from './speech-client.ts'

export function createKyClient({ speechUrl, onEvent, ...credentials }: Connection): SpeechClient {
  const tokens = clientCredentials({ ...credentials, onEvent })
  const api = ky
    .create({ throwHttpErrors: false, timeout: false })
    .extend(tokenHooks(tokens, { prefix: speechUrl }))

  const send: SendRequest = async ({ method, path, form, signal }) => {
    const response = await api(`v1/transcriptions${path}`, {
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
