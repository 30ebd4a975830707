import { TokenError } from '@tokenwell/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Expected, SpeechApiResponse } from '../../src/speech/speech-api-response.ts'
import { transcribeRecording, type SpeechApiRequest } from '../../src/speech/transcribe-recording.ts'

const recording = new Blob(['RIFF'])
const transcript = { text: 'one', durationSeconds: 90, segments: [] }
const created = { status: 202, body: { id: 'a/b', state: 'waiting', progress: 0 }, retryAfter: '2' }
const running = (progress?: number) => ({ status: 200, body: { id: 'a/b', state: 'running', progress } })
const done = { status: 200, body: { id: 'a/b', state: 'done', progress: 1, result: transcript } }
const busy = { status: 503, body: { error: { code: 'busy', message: 'Too many at once.' } } }
const gone = { status: 404, body: { error: { code: 'transcription_not_found', message: 'Not found.' } } }

let sent: string[]
let waited: number[]

beforeEach(() => {
  sent = []
  waited = []
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }).setTimerTickMode('nextTimerAsync')
  const timeout = globalThis.setTimeout
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((callback: () => void, ms: number) => {
    waited.push(ms)
    return timeout(callback, ms)
  }) as typeof setTimeout)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** Returns one response after another; nothing for DELETE. */
function respondingWith(...responses: (SpeechApiResponse | Error)[]) {
  return async ({ method, path }: SpeechApiRequest): Promise<SpeechApiResponse> => {
    sent.push(`${method} ${path}`)
    if (method === 'DELETE') return { status: 204, body: undefined }
    const response = responses.shift()
    if (!response || response instanceof Error) throw response ?? new Error('No more responses.')
    return response
  }
}

test('returns the transcript of a short recording', async () => {
  expect(await transcribeRecording(respondingWith({ status: 200, body: transcript }), recording)).toEqual(
    transcript,
  )
  expect(sent).toEqual(['POST '])
})

test('polls a long recording at the interval of the speech API and reports its progress', async () => {
  const progress: (number | undefined)[] = []
  const send = respondingWith(created, running(0.5), running(), done)
  expect(await transcribeRecording(send, recording, { onProgress: (value) => progress.push(value) })).toEqual(
    transcript,
  )
  expect(sent).toEqual(['POST ', 'GET /a%2Fb', 'GET /a%2Fb', 'GET /a%2Fb'])
  expect(waited).toEqual([2_000, 1_000, 1_000])
  expect(progress).toEqual([0, 0.5, undefined])
})

test('throws the error of a failed job', async () => {
  const error = { status: 415, code: 'not_a_wav', message: 'The file is not a WAV file.' }
  const send = respondingWith(created, { status: 200, body: { id: 'a/b', state: 'failed', error } })
  await expect(transcribeRecording(send, recording)).rejects.toMatchObject({
    ...error,
    isRecordingInvalid: true,
  })
  expect(sent).toEqual(['POST ', 'GET /a%2Fb'])
})

test('tolerates five failed polls in a row, then throws and cancels the job', async () => {
  const dead = new TypeError('fetch failed')
  const five = [dead, busy, dead, busy, new TokenError({ kind: 'unavailable', message: 'no token' })]
  const send = respondingWith(created, ...five, running(0.5), ...five, done)
  expect(await transcribeRecording(send, recording)).toEqual(transcript)
  sent = []
  await expect(transcribeRecording(respondingWith(created, ...five, dead), recording)).rejects.toBe(dead)
  expect(sent.at(-1)).toBe('DELETE /a%2Fb')
})

test('does not retry after an expired session', async () => {
  const ended = new TokenError({ kind: 'credentials', status: 401, message: 'rejected' })
  const wrapped = new Error('axios', { cause: ended })
  await expect(transcribeRecording(respondingWith(created, wrapped), recording)).rejects.toBe(wrapped)
  expect(sent).toEqual(['POST ', 'GET /a%2Fb', 'DELETE /a%2Fb'])
})

test('reports a lost job as retryable', async () => {
  await expect(
    transcribeRecording(respondingWith(created, running(0.5), gone), recording),
  ).rejects.toMatchObject({
    code: 'job_lost',
    isRetryable: true,
    message: 'The speech API lost the recording while transcribing it. The API may have been restarted.',
  })
  expect(sent).not.toContain('DELETE /a%2Fb')
})

test('cancels the job on an abort', async () => {
  const controller = new AbortController()
  const { signal } = controller
  const onProgress = () => queueMicrotask(() => controller.abort(new Error('enough')))
  await expect(
    transcribeRecording(respondingWith(created), recording, { signal, onProgress }),
  ).rejects.toThrow('enough')
  expect(sent).toEqual(['POST ', 'DELETE /a%2Fb'])
})

test('sends what is expected before the recording', async () => {
  const forms: string[][] = []
  const send = async ({ form }: SpeechApiRequest): Promise<SpeechApiResponse> => {
    forms.push(
      [...form!].map(([name, value]) => `${name}: ${typeof value === 'string' ? value : value.size}`),
    )
    return { status: 200, body: transcript }
  }
  for (const expected of [
    undefined,
    { grammar: 'numbers' },
    { grammar: 'phrases', phrases: ['one', 'two three'] },
    { grammar: 'text', text: 'One. Two.' },
  ] as const) {
    await transcribeRecording(send, recording, { expected: expected as Expected })
  }
  expect(forms).toEqual([
    ['file: 4'],
    ['grammar: numbers', 'file: 4'],
    ['phrases: one\ntwo three', 'file: 4'],
    ['text: One. Two.', 'file: 4'],
  ])
})

test.each([{}, { id: 7, state: 'running' }, null, undefined])('rejects %j as a job', async (body) => {
  const send = respondingWith({ status: 202, body })
  await expect(transcribeRecording(send, recording)).rejects.toMatchObject({
    status: 502,
    code: 'unexpected_response',
  })
})
