import ky from 'ky'
import type { TokenLife } from '../../token-life.ts'
import { transcribeThrough } from '../../transcribe-through.ts'
import { sendWith } from './send-with.ts'
import type { Transcriber } from './transcriber.ts'
import { createXhrFetch } from './xhr-fetch.ts'

/** Through the page's own server, which has a token of its own: this page never has one. */
export function createServerTranscriber(): Transcriber {
  return {
    transcribe(recording, { onSent, ...options }) {
      const api = ky.create({ throwHttpErrors: false, timeout: false, fetch: createXhrFetch(onSent) })
      return transcribeThrough(sendWith(api, '/api'), recording, options)
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
