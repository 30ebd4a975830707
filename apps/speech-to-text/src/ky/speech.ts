// The speech API with ky, in Node or in a page. Copy this file into your application.
import type { TokenProvider } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import ky, { isHTTPError } from 'ky'

export interface Transcription {
  id: string
  state: 'running' | 'done' | 'failed'
  text?: string
  error?: { message: string }
}

export function createSpeechClient(speechUrl: string, tokens: TokenProvider) {
  const api = ky.create({ timeout: 60_000 }).extend(tokenHooks(tokens, { prefix: speechUrl }))

  return {
    /** @param fields what is expected in the recording, such as `{ expected: 'digits' }` */
    async transcribe(recording: Blob, fields: Record<string, string>): Promise<Transcription> {
      const body = new FormData()
      for (const [name, value] of Object.entries(fields)) body.set(name, value)
      body.set('file', recording)
      let job = await api.post('v1/transcriptions', { body }).json<Transcription>()
      while (job.state === 'running') {
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        // ky repeats a GET whose response was lost.
        job = await api.get(`v1/transcriptions/${job.id}`).json<Transcription>()
      }
      if (job.error) throw new Error(job.error.message)
      return job
    },
  }
}

/** One sentence about an error of ky: that of the API, if it responded. Without a token, the error is a `TokenError`. */
export function messageOf(error: unknown): string {
  const data = isHTTPError<{ error?: { message: string } }>(error) ? error.data : undefined
  return (typeof data === 'object' && data.error?.message) || (error as Error).message
}
