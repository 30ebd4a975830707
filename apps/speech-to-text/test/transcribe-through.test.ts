import { TokenError } from '@tokenwell/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { SpeechApiAnswer } from '../src/speech-api-answer.ts'
import { transcribeThrough, type SpeechApiRequest } from '../src/transcribe-through.ts'

const recording = new Blob(['RIFF'])
const transcript = { text: 'one', durationSeconds: 90, segments: [] }
const taken = { status: 202, body: { id: 'a/b', state: 'waiting', progress: 0 }, retryAfter: '2' }
const running = (progress?: number) => ({ status: 200, body: { id: 'a/b', state: 'running', progress } })
const done = { status: 200, body: { id: 'a/b', state: 'done', progress: 1, result: transcript } }
const busy = { status: 503, body: { error: { code: 'busy', message: 'Too many at once.' } } }
const gone = { status: 404, body: { error: { code: 'unknown_transcription', message: 'There is none.' } } }

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

/** Answers with one after another; DELETE with nothing. */
function answering(...answers: (SpeechApiAnswer | Error)[]) {
  return async ({ method, path }: SpeechApiRequest): Promise<SpeechApiAnswer> => {
    sent.push(`${method} ${path}`)
    if (method === 'DELETE') return { status: 204, body: undefined }
    const answer = answers.shift()
    if (!answer || answer instanceof Error) throw answer ?? new Error('There are no more answers.')
    return answer
  }
}

test('a short recording is answered at once', async () => {
  expect(await transcribeThrough(answering({ status: 200, body: transcript }), recording)).toBe(transcript)
  expect(sent).toEqual(['POST '])
})

test('a long one is asked about as often as the speech API likes, and how far it is is told', async () => {
  const shares: (number | undefined)[] = []
  const send = answering(taken, running(0.5), running(), done)
  expect(await transcribeThrough(send, recording, { onProgress: (share) => shares.push(share) })).toBe(
    transcript,
  )
  expect(sent).toEqual(['POST ', 'GET /a%2Fb', 'GET /a%2Fb', 'GET /a%2Fb'])
  expect(waited).toEqual([2_000, 1_000, 1_000])
  expect(shares).toEqual([0, 0.5, undefined])
})

test('a long recording that is to blame is what the speech API says of it', async () => {
  const error = { status: 415, code: 'not_a_wav', message: 'The file is not a WAV file.' }
  const send = answering(taken, { status: 200, body: { id: 'a/b', state: 'failed', error } })
  await expect(transcribeThrough(send, recording)).rejects.toMatchObject({ ...error, blamesRecording: true })
  expect(sent).toEqual(['POST ', 'GET /a%2Fb'])
})

test('some answers in a row may be missing; more than five are an error, and the job is cancelled', async () => {
  const dead = new TypeError('fetch failed')
  const five = [dead, busy, dead, busy, new TokenError({ kind: 'unavailable', message: 'no token' })]
  const send = answering(taken, ...five, running(0.5), ...five, done)
  expect(await transcribeThrough(send, recording)).toBe(transcript)
  sent = []
  await expect(transcribeThrough(answering(taken, ...five, dead), recording)).rejects.toBe(dead)
  expect(sent.at(-1)).toBe('DELETE /a%2Fb')
})

test('a session that has ended is not asked for again', async () => {
  const ended = new TokenError({ kind: 'credentials', status: 401, message: 'refused' })
  const wrapped = new Error('axios', { cause: ended })
  await expect(transcribeThrough(answering(taken, wrapped), recording)).rejects.toBe(wrapped)
  expect(sent).toEqual(['POST ', 'GET /a%2Fb', 'DELETE /a%2Fb'])
})

test('a job that the speech API does not know any more is lost, and may be tried again', async () => {
  await expect(transcribeThrough(answering(taken, running(0.5), gone), recording)).rejects.toMatchObject({
    code: 'job_lost',
    passes: true,
    message: 'The speech API has lost the recording while it was at it: it may have been restarted.',
  })
  expect(sent).not.toContain('DELETE /a%2Fb')
})

test('whoever stops waiting cancels the job', async () => {
  const controller = new AbortController()
  const { signal } = controller
  const onProgress = () => queueMicrotask(() => controller.abort(new Error('enough')))
  await expect(transcribeThrough(answering(taken), recording, { signal, onProgress })).rejects.toThrow(
    'enough',
  )
  expect(sent).toEqual(['POST ', 'DELETE /a%2Fb'])
})

test.each([{}, { id: 7, state: 'running' }, null, undefined])('%j tells of no job', async (body) => {
  const send = answering({ status: 202, body })
  await expect(transcribeThrough(send, recording)).rejects.toMatchObject({
    status: 502,
    code: 'unexpected_answer',
  })
})
