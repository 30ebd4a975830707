import process from 'node:process'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  createGrammarEngine,
  type ExpectedSpeech,
  type GrammarEngineOptions,
  type Transcript,
} from '@tokenwell/speech-api'
import { createRandom } from '@tokenwell/internal-testing/random'
import { joinSamples } from '../../../src/wav/resampler.ts'
import { digits, noise, resampled, samples, samplesOf, tone } from '../../support/recordings.ts'
import { wavFile, type WavFileOptions } from '../../support/wav-file.ts'
import { describeEngine } from '../describe-engine.ts'

describeEngine('the grammar engine', (maxJobs) => createGrammarEngine({ threads: 1, maxJobs }))

const engine = createGrammarEngine({ threads: 1 })
afterAll(() => engine.close())

const { signal } = new AbortController()
const RATE = 16_000

async function* whole(file: Uint8Array): AsyncGenerator<Uint8Array> {
  yield file
}

const transcribe = (wav: Uint8Array, expected?: ExpectedSpeech): Promise<Transcript> =>
  engine.transcribe(whole(wav), { signal, expected })
const textOf = ({ segments }: Transcript) => segments.map(({ text }) => text).join(' ')
const pause = (seconds: number) => new Float32Array(seconds * RATE)

test.each(samples)('recognises $name, with the time of each word', async ({ wav, expected, text }) => {
  const transcript = await transcribe(wav, expected)
  expect(textOf(transcript)).toBe(text)
  expect(transcript).toMatchObject({ grammar: expected.grammar, uncertain: false, warnings: [] })
  expect(transcript.durationSeconds).toBeCloseTo(samplesOf(wav).length / RATE, 2)
  for (const [index, { start, end, confidence }] of transcript.segments.entries()) {
    expect(start).toBeGreaterThanOrEqual(transcript.segments[index - 1]?.end ?? 0)
    expect(end).toBeGreaterThan(start)
    expect(end).toBeLessThanOrEqual(transcript.durationSeconds)
    expect(confidence).toBeGreaterThanOrEqual(0.5)
    expect(confidence).toBeLessThanOrEqual(1)
  }
})

describe('recognises digits', () => {
  const spoken = samplesOf(digits.wav)

  test.each<[string, WavFileOptions & { sampleRate: number }]>([
    ['8 kHz and 8 bits', { sampleRate: 8_000, bits: 8 }],
    ['11.025 kHz', { sampleRate: 11_025 }],
    ['44.1 kHz stereo', { sampleRate: 44_100, channels: 2 }],
    ['48 kHz float', { sampleRate: 48_000, encoding: 'float', bits: 32 }],
  ])('at %s', async (_, options) => {
    expect(textOf(await transcribe(wavFile(resampled(spoken, options.sampleRate), options)))).toBe(
      digits.text,
    )
  })

  const power = spoken.reduce((sum, sample) => sum + sample * sample, 0) / spoken.length
  const hiss = noise(Math.sqrt(power) / 10, spoken.length, createRandom(7))
  test.each<[string, Float32Array]>([
    ['20 dB quieter', spoken.map((sample) => sample / 10)],
    ['40 dB quieter', spoken.map((sample) => sample / 100)],
    ['with silence around them', joinSamples([pause(2), spoken, pause(3)])],
    ['with noise 20 dB below them', spoken.map((sample, index) => sample + (hiss[index] as number))],
    ['with an offset', spoken.map((sample) => sample + 0.05)],
  ])('%s', async (_, changed) => {
    expect(textOf(await transcribe(wavFile(changed)))).toBe(digits.text)
  })

  test('up to the word that the end of the recording cuts off', async () => {
    const half = textOf(await transcribe(wavFile(spoken.subarray(0, spoken.length * 0.55)))).split(' ')
    expect(half.length).toBeGreaterThanOrEqual(3)
    expect(digits.text.split(' ').slice(0, half.length - 1)).toEqual(half.slice(0, -1))
  })

  test('the same in pieces of any length', async () => {
    const pieces = async function* () {
      for (let start = 0; start < digits.wav.length; start += 997)
        yield digits.wav.subarray(start, start + 997)
    }
    expect(await engine.transcribe(pieces(), { signal })).toEqual(await transcribe(digits.wav))
  })
})

describe('a recording of more than 30 s', () => {
  test('is recognised to its end, with correct times', async () => {
    const once = joinSamples([samplesOf(digits.wav), pause(0.6)])
    const rounds = Math.ceil((35 * RATE) / once.length)
    const { segments, durationSeconds, uncertain } = await transcribe(
      wavFile(joinSamples(Array.from({ length: rounds }, () => once))),
    )
    expect(durationSeconds).toBeGreaterThan(30)
    expect(uncertain).toBe(false)
    expect(segments.map(({ text }) => text)).toEqual(
      Array.from({ length: rounds }, () => digits.text.split(' ')).flat(),
    )
    const perRound = segments.length / rounds
    for (const [index, { start }] of segments.entries()) {
      const round = (Math.floor(index / perRound) * once.length) / RATE
      expect(Math.abs(start - (segments[index % perRound]!.start + round))).toBeLessThan(0.1)
    }
  })

  test('is aligned with its text, with correct times', async () => {
    const { wav, text } = samples.find(({ expected }) => expected.grammar === 'text')!
    const once = joinSamples([samplesOf(wav), pause(0.6)])
    const rounds = Math.ceil((35 * RATE) / once.length)
    const { segments, uncertain, warnings } = await transcribe(
      wavFile(joinSamples(Array.from({ length: rounds }, () => once))),
      { grammar: 'text', text: Array.from({ length: rounds }, () => text).join('\n') },
    )
    expect({ uncertain, warnings }).toEqual({ uncertain: false, warnings: [] })
    const perRound = text.split(' ').length
    expect(segments).toHaveLength(perRound * rounds)
    for (const [index, { start }] of segments.entries()) {
      const round = (Math.floor(index / perRound) * once.length) / RATE
      expect(Math.abs(start - (segments[index % perRound]!.start + round))).toBeLessThan(0.1)
    }
  })
})

describe('reports what was not expected', () => {
  const announcement = samples.find(({ expected }) => expected.grammar === 'text')!

  test.each(samples.slice(0, 5))('as uncertain, or not at all: $expected.grammar', async ({ expected }) => {
    const { segments, uncertain } = await transcribe(announcement.wav, expected)
    expect(segments.length === 0 || uncertain).toBe(true)
  })

  test('as uncertain among 200 sentences, and as certain when it is one of them', async () => {
    const { wav, text } = samples.find(({ expected }) => expected.grammar === 'phrases')!
    const words = announcement.text.replaceAll(/[^A-Za-z ]/g, '').split(' ')
    const sentence = (_: unknown, index: number) =>
      Array.from({ length: 6 }, (_, place) => words[(index * 7 + place * 5) % words.length]).join(' ')
    const others = Array.from({ length: 199 }, sentence)
    const without = await transcribe(wav, { grammar: 'phrases', phrases: others })
    expect(without.segments.length === 0 || without.uncertain).toBe(true)
    const among = await transcribe(wav, { grammar: 'phrases', phrases: [...others, text] })
    expect([textOf(among), among.uncertain]).toEqual([text, false])
  })

  test('when another text was read', async () => {
    const text = 'Your call is important to us. Please hold the line while we connect you.'
    const { segments, uncertain } = await transcribe(announcement.wav, { grammar: 'text', text })
    expect(segments.length === 0 || uncertain).toBe(true)
  })

  test('when only the beginning of a text was read', async () => {
    const text = `${announcement.text} Please come back soon.`
    const { segments, warnings } = await transcribe(announcement.wav, { grammar: 'text', text })
    expect(segments).toHaveLength(announcement.text.split(' ').length)
    expect(warnings).toEqual([
      { code: 'text_not_spoken', message: 'The last 4 of 39 words of the text were not heard.' },
    ])
  })
})

const random = createRandom(1)
const TUNE = [262, 330, 392, 523, 440, 349, 294]

function play(seconds: number, sound: (second: number) => number): Float32Array {
  return Float32Array.from({ length: seconds * RATE }, (_, sample) => sound(sample / RATE))
}

/** Plucked notes with overtones, `voices` at a time. */
function music(noteSeconds: number, voices: number): Float32Array {
  return play(6, (second) => {
    const note = Math.floor(second / noteSeconds)
    const fading = Math.exp(-3 * (second % noteSeconds))
    let sum = 0
    for (let voice = 0; voice < voices; voice++) {
      const hertz = TUNE[(note + 2 * voice) % TUNE.length] as number
      for (let overtone = 1; overtone <= 5; overtone++) {
        sum += Math.sin(2 * Math.PI * hertz * overtone * second) / overtone
      }
    }
    return (0.2 * fading * sum) / voices
  })
}

test.each<[string, Float32Array]>([
  ['silence', new Float32Array(3 * RATE)],
  ['a moment of silence', new Float32Array(1)],
  ['a very faint hiss', noise(1e-5, 3 * RATE, random)],
  ['a faint hiss', noise(0.001, 3 * RATE, random)],
  ['a loud hiss', noise(0.2, 3 * RATE, random)],
  ['bursts of noise', play(3, (second) => (second % 0.5 < 0.25 ? 0.6 : 0.002) * (random() - 0.5))],
  ['clicks', play(3, (second) => (second % 0.5 < 0.005 ? 1 : 0.002) * (random() - 0.5))],
  ['a constant offset', new Float32Array(RATE).fill(0.5)],
  ['a tone', tone(440, RATE, 3)],
  ['beeps', play(4, (second) => (second % 0.5 < 0.25 ? 0.3 * Math.sin(2 * Math.PI * 1_000 * second) : 0))],
  ['a rising tone', play(3, (second) => 0.3 * Math.sin(2 * Math.PI * (200 + 500 * second) * second))],
  ['a quick tune', music(0.19, 1)],
  ['a slow tune', music(0.75, 1)],
  ['quick chords', music(0.19, 3)],
  ['slow chords', music(0.75, 3)],
])('is not certain of any word in %s', async (_, sound) => {
  const { segments, uncertain } = await transcribe(wavFile(sound))
  expect(segments.length === 0 || uncertain).toBe(true)
})

test('rejects words that are not in the dictionary before it reads the recording', async () => {
  let read = false
  const audio = (async function* () {
    read = true
    yield digits.wav
  })()
  const expected = { grammar: 'phrases' as const, phrases: ['open the door', 'zzq'] }
  await expect(engine.transcribe(audio, { signal, expected })).rejects.toMatchObject({
    name: 'ExpectedSpeechError',
    code: 'unknown_words',
  })
  expect(read).toBe(false)
  expect(textOf(await transcribe(digits.wav))).toBe(digits.text)
})

test('does not change the buffers of the caller', async () => {
  const file = Buffer.from(digits.wav)
  await transcribe(file)
  expect(Buffer.compare(file, digits.wav)).toBe(0)
})

describe('an abort', () => {
  test('frees the places of the aborted transcriptions', async () => {
    const small = startEngine({ maxJobs: 4 })
    for (let round = 0; round < 3; round++) {
      const controllers = Array.from({ length: 4 }, () => new AbortController())
      const all = controllers.map(async (controller) =>
        small.transcribe(whole(digits.wav), { signal: controller.signal }),
      )
      for (const controller of controllers) controller.abort(new Error('enough'))
      const results = await Promise.allSettled(all)
      expect(results.map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
    }
    expect(textOf(await small.transcribe(whole(digits.wav), { signal }))).toBe(digits.text)
  })

  test('before the start reads nothing', async () => {
    let read = false
    const audio = (async function* () {
      read = true
      yield digits.wav
    })()
    await expect(engine.transcribe(audio, { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow(
      'no',
    )
    expect(read).toBe(false)
  })
})

function startEngine(options: GrammarEngineOptions) {
  const started = createGrammarEngine({ threads: 1, ...options })
  onTestFinished(() => started.close())
  return started
}

test('replaces a thread that takes too long', async () => {
  const slow = startEngine({ timeoutMs: 1 })
  await expect(slow.transcribe(whole(digits.wav), { signal })).rejects.toMatchObject({
    code: 'engine_timeout',
    message: 'Transcribing a part of the recording took longer than 0.001 s.',
  })
  expect(slow.busy).toBe(false)
  await expect(slow.transcribe(whole(digits.wav), { signal })).rejects.toMatchObject({
    code: 'engine_timeout',
  })
})

test('fails the recordings in progress when it closes, and rejects further ones', async () => {
  const closing = startEngine({})
  const transcription = closing.transcribe(whole(digits.wav), { signal }).catch((error: unknown) => error)
  await closing.close()
  expect(await transcription).toMatchObject({ code: 'engine_closed' })
  await expect(closing.transcribe(whole(digits.wav), { signal })).rejects.toMatchObject({
    code: 'engine_closed',
  })
})

test('adds no listeners to the process, however many threads it has', async () => {
  const before = process.eventNames().map((name) => [name, process.listenerCount(name)])
  const many = startEngine({ threads: 4 })
  await Promise.all(Array.from({ length: 4 }, () => many.transcribe(whole(digits.wav), { signal })))
  expect(process.eventNames().map((name) => [name, process.listenerCount(name)])).toEqual(before)
})
