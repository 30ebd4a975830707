import { PassThrough } from 'node:stream'
import { afterEach, expect, test, vi } from 'vitest'
import { TokenError } from '@tokenwell/core'
import type { SpeechClient } from '../../src/clients/speech-client.ts'
import { type Recording, RecordingError } from '../../src/command/find-recordings.ts'
import { startProgress } from '../../src/command/progress.ts'
import { transcribeAll, type Outcome } from '../../src/command/transcribe-with-retries.ts'
import { SpeechApiError } from '../../src/speech/speech-api-response.ts'

const credentials = new TokenError({ kind: 'credentials', message: 'rejected' })

function recording(name: string): Recording {
  return { name, id: name, open: () => Promise.resolve(new Blob([name])) }
}

function client(transcribe: (name: string, signal: AbortSignal) => Promise<string>): SpeechClient {
  return {
    async transcribe(audio, { signal } = {}) {
      return { text: await transcribe(await audio.text(), signal!), durationSeconds: 1, segments: [] }
    },
    close: () => Promise.resolve(),
  }
}

async function collect(outcomes: AsyncIterable<Outcome>): Promise<string[]> {
  const lines: string[] = []
  for await (const outcome of outcomes) {
    lines.push('error' in outcome ? outcome.error : outcome.transcript.text)
  }
  return lines
}

afterEach(() => void vi.useRealTimers())

const settings = { speechUrl: 'https://speech.example.com', retries: 0, concurrency: 10 }

test('yields outcomes in the order of the recordings', async () => {
  const finish = new Map<string, () => void>()
  const slow = client((name) => new Promise((resolve) => finish.set(name, () => resolve(name))))
  const lines = collect(transcribeAll(['a', 'b', 'c'].map(recording), { ...settings, client: slow }))
  await expect.poll(() => finish.size, { timeout: 20_000 }).toBe(3)
  for (const name of ['c', 'b', 'a']) finish.get(name)!()
  expect(await lines).toEqual(['a', 'b', 'c'])
})

test('limits the number of concurrent transcriptions', async () => {
  let active = 0
  let most = 0
  const counting = client(async (name) => {
    most = Math.max(most, ++active)
    await new Promise(setImmediate)
    active--
    return name
  })
  const recordings = Array.from({ length: 50 }, (_, index) => recording(`${index}`))
  await collect(transcribeAll(recordings, { ...settings, concurrency: 3, client: counting }))
  expect(most).toBe(3)
})

test('transcribes the other recordings when one is invalid', async () => {
  const picky = client((name) =>
    name === 'b'
      ? Promise.reject(new SpeechApiError('Not a WAV file.', 400, 'not_a_wav'))
      : Promise.resolve(name),
  )
  const broken: Recording = {
    name: 'd',
    id: 'd',
    open: () => Promise.reject(new RecordingError('d is empty.')),
  }
  const recordings = [...['a', 'b', 'c'].map(recording), broken]
  expect(await collect(transcribeAll(recordings, { ...settings, client: picky }))).toEqual([
    'a',
    'b: Not a WAV file.',
    'c',
    'd is empty.',
  ])
})

test('cancels all recordings when the credentials are rejected', async () => {
  const started: string[] = []
  let aborted: unknown
  const rejecting = client((name, signal) => {
    started.push(name)
    if (name === 'b') return Promise.reject(credentials)
    return new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => {
        aborted = signal.reason
        reject(new Error('cancelled'))
      }),
    )
  })
  const recordings = ['a', 'b', 'c', 'd'].map(recording)
  await expect(
    collect(transcribeAll(recordings, { ...settings, concurrency: 2, client: rejecting })),
  ).rejects.toBe(credentials)
  expect(aborted).toBe(credentials)
  expect(started).toEqual(['a', 'b'])
})

test('retries when a service cannot be reached, but not when it rejects the request', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }).setTimerTickMode('nextTimerAsync')
  let calls = 0
  const restarting = client(() =>
    ++calls < 3 ? Promise.reject(new TypeError('fetch failed')) : Promise.resolve('late'),
  )
  const messages: string[] = []
  const onRetry = (error: Error) => messages.push(error.message)
  const outcomes = transcribeAll([recording('a')], { ...settings, retries: 2, onRetry, client: restarting })
  expect(await collect(outcomes)).toEqual(['late'])
  expect(messages).toEqual(
    Array(2).fill('The speech API at https://speech.example.com could not be reached (TypeError).'),
  )

  let rejections = 0
  const forbidden = client(() => {
    rejections++
    return Promise.reject(new SpeechApiError('The token does not cover the product.', 403, 'forbidden'))
  })
  await expect(
    collect(transcribeAll([recording('a')], { ...settings, retries: 2, client: forbidden })),
  ).rejects.toThrow('does not cover')
  expect(rejections).toBe(1)
})

test('waits for a busy service without using up its retries', async () => {
  let calls = 0
  const busy = client(() => {
    const error = new SpeechApiError('Too many at once.', 503, 'busy', 1)
    return ++calls <= 30 ? Promise.reject(error) : Promise.resolve('late')
  })
  const outcomes = transcribeAll([recording('a')], { ...settings, retries: 1, client: busy })
  expect(await collect(outcomes)).toEqual(['late'])
  expect(calls).toBe(31)
})

test('prints each quarter of a long recording once when the output is not a terminal', async () => {
  const pipe = new PassThrough()
  const progress = startProgress(2, pipe as unknown as NodeJS.WriteStream)
  progress.start('a.wav')
  progress.start('b.wav')
  for (const fraction of [undefined, 0, 0.1, 0.26, 0.3, 0.8, 0.9]) progress.update('a.wav', fraction)
  progress.update('b.wav', 0.5)
  progress.end('a.wav')
  await progress.close()
  expect(String(pipe.read(pipe.readableLength))).toBe('a.wav: 25%\na.wav: 75%\nb.wav: 50%\n')
})
