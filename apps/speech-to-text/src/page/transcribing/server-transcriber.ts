import ky from 'ky'
import { readTranscript } from '../../read-transcript.ts'
import type { TokenLife } from '../../token-life.ts'
import type { Transcriber } from './transcriber.ts'
import { createXhrFetch } from './xhr-fetch.ts'

/** Through the page's own server, which has a token of its own: this page never has one. */
export function createServerTranscriber(): Transcriber {
  return {
    async transcribe(recording, { onProgress, signal }) {
      const form = new FormData()
      form.set('file', recording, 'recording.wav')
      const response = await ky.post('/api/transcriptions', {
        body: form,
        fetch: createXhrFetch(onProgress),
        throwHttpErrors: false,
        timeout: false,
        signal,
      })
      return readTranscript({
        status: response.status,
        body: await response.json().catch(() => undefined),
        retryAfter: response.headers.get('retry-after'),
      })
    },
    followToken(listener) {
      const events = new EventSource('/api/token-life')
      events.addEventListener('message', ({ data }: MessageEvent<string>) => {
        listener(JSON.parse(data) as TokenLife)
      })
      return () => events.close()
    },
  }
}
