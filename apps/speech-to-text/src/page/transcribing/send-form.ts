import type { KyInstance } from 'ky'
import { toSpeechApiResponse } from '../../speech/speech-api-response.ts'
import type { SendRequest } from '../../speech/transcribe-recording.ts'

/** Sends recordings in a form, as browsers send files. */
export function sendForm(api: KyInstance, base: string): SendRequest {
  return async ({ method, path, recording, signal }) => {
    const response = await api(`${base}/transcriptions${path}`, {
      method,
      ...(recording && { body: form(recording) }),
      signal: signal ?? null,
    })
    return toSpeechApiResponse(response)
  }
}

function form(recording: Blob): FormData {
  const form = new FormData()
  form.set('file', recording, 'recording.wav')
  return form
}
