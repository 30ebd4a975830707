// The speech API with axios, in Node or in a page. Copy this file into your application.
import { attachTokens } from '@tokenwell/axios-interceptor'
import type { TokenProvider } from '@tokenwell/core'
import axios, { isAxiosError, type AxiosInstance } from 'axios'

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

export interface TranscribeOptions {
  signal?: AbortSignal
  /** Called with the part, from 0 to 1. */
  onProgress?: (state: 'uploading' | 'transcribing', part: number) => void
}

export function createSpeechApi(speechUrl: string, tokens: TokenProvider): AxiosInstance {
  const api = axios.create({ baseURL: `${speechUrl}/v1`, timeout: 60_000 })
  attachTokens(api, tokens)
  return api
}

/** @param fields what is expected in the recording, such as `{ expected: 'digits' }` */
export async function transcribe(
  api: AxiosInstance,
  recording: Blob,
  fields: Record<string, string>,
  { signal, onProgress }: TranscribeOptions = {},
): Promise<Transcription> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', recording)
  const onUploadProgress = ({ progress = 0 }) => onProgress?.('uploading', progress)
  let { data: job } = await api.post<Transcription>('/transcriptions', form, { signal, onUploadProgress })
  const url = `/transcriptions/${job.id}`
  for (let failures = 0; job.state === 'running';) {
    onProgress?.('transcribing', job.progress ?? 0)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    try {
      job = (await api.get<Transcription>(url, { signal })).data
      failures = 0
    } catch (error) {
      if (signal?.aborted) void api.delete(url).catch(() => {}) // nobody waits for it any more
      // A response that was lost on its way can be requested again.
      if (signal?.aborted || ++failures > 4 || !isAxiosError(error) || (error.status ?? 500) < 500)
        throw error
    }
  }
  if (job.error) throw Object.assign(new Error(job.error.message), { status: job.error.status })
  return job
}

/** One sentence about an error: that of the API, if it responded. Without a token, the code of the error is `ERR_TOKEN`. */
export function messageOf(error: unknown): string {
  const own = isAxiosError<{ error?: { message: string } }>(error) && error.response?.data?.error?.message
  return own || (error as Error).message
}
