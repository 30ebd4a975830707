import ky from 'ky'
import type { TokenStatus } from '../../tokens/token-status.ts'
import { transcribeRecording } from '../../speech/transcribe-recording.ts'
import { sendForm, createXhrFetch } from './xhr-fetch.ts'
import type { Transcriber } from './transcriber.ts'
import type { PageSettings } from '../../platform/connection.ts'

/** Sends recordings to the server of the page, which calls the speech API with its own token. */
export function createServerTranscriber(): Transcriber {
  return {
    transcribe(recording, { onUpload, ...options }) {
      const api = ky.create({ throwHttpErrors: false, timeout: false, fetch: createXhrFetch(onUpload) })
      return transcribeRecording(sendForm(api, '/api'), recording, options)
    },
    followToken(listener) {
      const events = new EventSource('/api/token-status')
      events.addEventListener('message', ({ data }: MessageEvent<string>) => {
        listener(JSON.parse(data) as TokenStatus)
      })
      // The browser connects again by itself.
      events.addEventListener('error', () => listener(undefined))
      return () => events.close()
    },
    async try(trial) {
      await ky.post(`/api/trials/${trial}`)
    },
  }
}

/** A real application logs the user in here. */
export async function startSession(): Promise<void> {
  await ky.post('/api/sessions')
}

export function fetchPageSettings(): Promise<PageSettings> {
  return ky.get('/api/page-settings').json<PageSettings>()
}
