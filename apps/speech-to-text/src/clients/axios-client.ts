import { create } from 'axios'
import { attachTokens } from '@tokenwell/axios-interceptor'
import { clientCredentials } from '@tokenwell/core'
import type { Connection } from '../platform/connection.ts'
import { transcribeRecording, type SendRequest } from '../speech/transcribe-recording.ts'
import type { SpeechClient } from './speech-client.ts'

export function createAxiosClient({ speechUrl, onEvent, ...credentials }: Connection): SpeechClient {
  const tokens = clientCredentials({ ...credentials, onEvent })
  const api = create({ baseURL: speechUrl, validateStatus: null })
  attachTokens(api, tokens)

  const send: SendRequest = async ({ method, path, form, signal }) => {
    const { status, data, headers } = await api.request({
      method,
      url: `/v1/transcriptions${path}`,
      ...(form && { data: form }),
      ...(signal && { signal }),
    })
    return { status, body: data, retryAfter: headers['retry-after'] }
  }
  return {
    transcribe: (recording, options) => transcribeRecording(send, recording, options),
    close: () => tokens.close(),
  }
}
