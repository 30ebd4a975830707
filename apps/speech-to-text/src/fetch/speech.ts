// The speech API with `fetch`, in Node or in a page. Copy this file into your application.
import { createTokenFetch, type TokenProvider } from '@tokenwell/core'

export interface Transcription {
  id: string
  state: 'running' | 'done' | 'failed'
  /** From 0 to 1. */
  progress?: number
  text?: string
  segments?: { start: number; end: number; text: string }[]
  warnings?: { message: string }[]
  error?: { status: number; message: string }
}

/** An error response of the speech API. The message is its own sentence. */
export class SpeechError extends Error {
  override name = 'SpeechError'
  status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

export function createSpeechClient(speechUrl: string, tokens: TokenProvider) {
  const apiFetch = createTokenFetch(tokens, { baseUrl: speechUrl })

  async function call(path: string, init?: RequestInit): Promise<Transcription> {
    const response = await apiFetch(path, { ...init, signal: AbortSignal.timeout(60_000) })
    const body = await response.json().catch(() => undefined)
    if (response.ok && body) return body
    throw new SpeechError(body?.error?.message ?? `The status is ${response.status}.`, response.status)
  }

  return {
    /** @param fields what is expected in the recording, such as `{ expected: 'digits' }` */
    async transcribe(
      recording: Blob,
      fields: Record<string, string>,
      onProgress?: (part: number) => void,
    ): Promise<Transcription> {
      const body = new FormData()
      for (const [name, value] of Object.entries(fields)) body.set(name, value)
      body.set('file', recording)
      let job = await call('/v1/transcriptions', { method: 'POST', body })
      for (let failures = 0; job.state === 'running';) {
        onProgress?.(job.progress ?? 0)
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        try {
          job = await call(`/v1/transcriptions/${job.id}`)
          failures = 0
        } catch (error) {
          // A response that was lost on its way can be requested again.
          if (++failures > 4 || (error instanceof SpeechError && error.status < 500)) throw error
        }
      }
      if (job.error) throw new SpeechError(job.error.message, job.error.status)
      return job
    },
  }
}
