import { toSpeechApiResponse } from '../speech/speech-api-response.ts'
import { transcribeRecording, type SendRequest } from '../speech/transcribe-recording.ts'
import { createServer } from '../server/run-server.ts'
import type { SpeechClient } from './speech-client.ts'

/** Starts the NestJS application, and sends it recordings as its page does. */
export async function startNestClient(): Promise<SpeechClient> {
  const server = await createServer()
  await server.listen(0, '127.0.0.1')
  const url = await server.getUrl()
  const session = await fetch(`${url}/api/sessions`, { method: 'POST' })
  const [cookie = ''] = session.headers.getSetCookie()

  const send: SendRequest = async ({ method, path, form, signal }) => {
    const response = await fetch(`${url}/api/transcriptions${path}`, {
      method,
      headers: { cookie },
      ...(form && { body: form }),
      signal: signal ?? null,
    })
    return toSpeechApiResponse(response)
  }
  return {
    transcribe: (recording, options) => transcribeRecording(send, recording, options),
    close: () => server.close(),
  }
}
