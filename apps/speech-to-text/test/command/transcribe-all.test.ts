import { TokenError } from '@tokenwell/core'
import { afterEach, expect, test, vi } from 'vitest'
import type { SpeechClient } from '../../src/clients/speech-client.ts'
import type { Recording } from '../../src/command/find-recordings.ts'
import { InputError } from '../../src/command/input-error.ts'
import { transcribeAll, type Outcome } from '../../src/command/transcribe-all.ts'
import { SpeechApiError } from '../../src/speech-api-error.ts'

const credentials = new TokenError({ kind: 'credentials', message: 'refused' })

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
    lines.push('problem' in outcome ? outcome.problem : outcome.transcript.text)
  }
  return lines
}

afterEach(() => void vi.useRealTimers())

const settings = { speechUrl: 'https://speech.example.com', retries: 0, concurrency: 10 }

test('outcomes come in the order of the recordings, whichever is done first', async () => {
  const finish = new Map<string, () => void>()
  const slow = client((name) => new Promise((resolve) => finish.set(name, () => resolve(name))))
  const lines = collect(transcribeAll(['a', 'b', 'c'].map(recording), { ...settings, client: slow }))
  await expect.poll(() => finish.size, { timeout: 20_000 }).toBe(3)
  for (const name of ['c', 'b', 'a']) finish.get(name)!()
  expect(await lines).toEqual(['a', 'b', 'c'])
})

test('no more are under way than asked for', async () => {
  let underWay = 0
  let most = 0
  const counting = client(async (name) => {
    most = Math.max(most, ++underWay)
    await new Promise(setImmediate)
    underWay--
    return name
  })
  const recordings = Array.from({ length: 50 }, (_, index) => recording(`${index}`))
  await collect(transcribeAll(recordings, { ...settings, concurrency: 3, client: counting }))
  expect(most).toBe(3)
})

test('a recording that is to blame leaves the others alone', async () => {
  const picky = client((name) =>
    name === 'b'
      ? Promise.reject(new SpeechApiError('Not a WAV file.', 400, 'not_a_wav'))
      : Promise.resolve(name),
  )
  const broken: Recording = { name: 'd', id: 'd', open: () => Promise.reject(new InputError('d is empty.')) }
  const recordings = [...['a', 'b', 'c'].map(recording), broken]
  expect(await collect(transcribeAll(recordings, { ...settings, client: picky }))).toEqual([
    'a',
    'b: Not a WAV file.',
    'c',
    'd is empty.',
  ])
})

test('refused credentials end everything at once, also what is under way and what has not begun', async () => {
  const begun: string[] = []
  let aborted: unknown
  const refused = client((name, signal) => {
    begun.push(name)
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
    collect(transcribeAll(recordings, { ...settings, concurrency: 2, client: refused })),
  ).rejects.toBe(credentials)
  expect(aborted).toBe(credentials)
  expect(begun).toEqual(['a', 'b'])
})

test('a service that does not answer is tried again, a refusal is not', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }).setTimerTickMode('nextTimerAsync')
  let calls = 0
  const restarting = client(() =>
    ++calls < 3 ? Promise.reject(new TypeError('fetch failed')) : Promise.resolve('late'),
  )
  const notes: string[] = []
  const onRetry = (error: Error) => notes.push(error.message)
  const outcomes = transcribeAll([recording('a')], { ...settings, retries: 2, onRetry, client: restarting })
  expect(await collect(outcomes)).toEqual(['late'])
  expect(notes).toEqual(
    Array(2).fill('The speech API at https://speech.example.com could not be reached (TypeError).'),
  )

  let refusals = 0
  const refusing = client(() => {
    refusals++
    return Promise.reject(new SpeechApiError('Your application may not use this.', 403, 'forbidden'))
  })
  await expect(
    collect(transcribeAll([recording('a')], { ...settings, retries: 2, client: refusing })),
  ).rejects.toThrow('may not')
  expect(refusals).toBe(1)
})

test('a service that is busy, and says for how long, is waited for however often it is', async () => {
  let calls = 0
  const busy = client(() => {
    const error = new SpeechApiError('Too many at once.', 503, 'busy', 1)
    return ++calls <= 30 ? Promise.reject(error) : Promise.resolve('late')
  })
  const outcomes = transcribeAll([recording('a')], { ...settings, retries: 1, client: busy })
  expect(await collect(outcomes)).toEqual(['late'])
  expect(calls).toBe(31)
})
