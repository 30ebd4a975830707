import type { KyInstance } from 'ky'
import { answerOf } from '../../speech-api-answer.ts'
import type { SendRequest } from '../../transcribe-through.ts'

/** Sends recordings as browsers send files: in a form. */
export function sendWith(api: KyInstance, base: string): SendRequest {
  return async ({ method, path, recording, signal }) => {
    const response = await api(`${base}/transcriptions${path}`, {
      method,
      ...(recording && { body: form(recording) }),
      signal: signal ?? null,
    })
    return answerOf(response)
  }
}

function form(recording: Blob): FormData {
  const form = new FormData()
  form.set('file', recording, 'recording.wav')
  return form
}
