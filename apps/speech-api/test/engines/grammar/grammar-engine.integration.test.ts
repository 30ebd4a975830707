import process from 'node:process'
import { afterAll, describe, expect, test } from 'vitest'
import { createGrammarEngine, type ExpectedSpeech, type Transcript } from '@tokenwell/speech-api'
import { createRandom } from '@tokenwell/internal-testing/random'
import { joinSamples } from '../../../src/wav/resampler.ts'
import {
  noise,
  repeated,
  resampled,
  sampleFile,
  sampleOf,
  samples,
  samplesOf,
  tone,
  withFile,
} from '../../support/recordings.ts'
import { wavFile, type WavFileOptions } from '../../support/wav-file.ts'

const engine = createGrammarEngine()
afterAll(() => engine.close())

const RATE = 16_000
const digits = sampleOf('digits')

function expectedIn(fields: Readonly<Record<string, string>>): ExpectedSpeech {
  const { expected, phrases, text } = fields
  if (phrases) return { expected: 'phrases', phrases: phrases.split('\n') }
  return text ? { expected: 'text', text } : ({ expected } as ExpectedSpeech)
}

function transcribe(
  wav: Uint8Array,
  expected: ExpectedSpeech = { expected: 'digits' },
  { signal } = new AbortController(),
  onProgress: (progress: number) => void = () => {},
): Promise<Transcript> {
  return withFile(wav, (path) => engine.transcribe(path, { expected, signal, onProgress }))
}
const textOf = ({ segments }: Transcript) => segments.map(({ text }) => text).join(' ')
const pause = (seconds: number) => new Float32Array(seconds * RATE)

test.each(samples)('recognises $name, with the time of each word', async ({ wav, fields, text }) => {
  const transcript = await transcribe(wav, expectedIn(fields))
  expect(textOf(transcript)).toBe(text)
  expect(transcript.warnings).toEqual([])
  expect(transcript.durationSeconds).toBeCloseTo((await samplesOf(wav)).length / RATE, 2)
  for (const [index, { start, end, score }] of transcript.segments.entries()) {
    expect(start).toBeGreaterThanOrEqual(transcript.segments[index - 1]?.end ?? 0)
    expect(end).toBeGreaterThan(start)
    expect(end).toBeLessThanOrEqual(transcript.durationSeconds)
    expect(score).toBeGreaterThan(0)
    expect(score).toBeLessThanOrEqual(1)
  }
})

describe('recognises digits', async () => {
  const spoken = await samplesOf(digits.wav)

  test.each<[string, WavFileOptions & { sampleRate: number }]>([
    ['8 kHz and 8 bits', { sampleRate: 8_000, bits: 8 }],
    ['8 kHz in A-law', { sampleRate: 8_000, encoding: 'a-law' }],
    ['8 kHz in µ-law', { sampleRate: 8_000, encoding: 'µ-law' }],
    ['44.1 kHz stereo', { sampleRate: 44_100, channels: 2 }],
    ['48 kHz float', { sampleRate: 48_000, encoding: 'float', bits: 32 }],
  ])('at %s', async (_, options) => {
    const wav = wavFile(resampled(spoken, options.sampleRate), options)
    expect(textOf(await transcribe(wav))).toBe(digits.text)
  })

  const power = spoken.reduce((sum, sample) => sum + sample * sample, 0) / spoken.length
  const hiss = noise(Math.sqrt(power) / 10, spoken.length, createRandom(7))
  test.each<[string, Float32Array]>([
    ['40 dB quieter', spoken.map((sample) => sample / 100)],
    ['with silence around them', joinSamples([pause(2), spoken, pause(3)])],
    ['with noise 20 dB below them', spoken.map((sample, index) => sample + (hiss[index] as number))],
    ['with an offset', spoken.map((sample) => sample + 0.05)],
  ])('%s', async (_, changed) => {
    expect(textOf(await transcribe(wavFile(changed)))).toBe(digits.text)
  })
})

test('recognises a recording of more than 30 s to its end, with correct times and its progress', async () => {
  const times = 13
  const { wav, text } = await repeated(times)
  const progress: number[] = []
  const { segments, durationSeconds } = await transcribe(wav, undefined, undefined, (part) =>
    progress.push(part),
  )
  expect(durationSeconds).toBeGreaterThan(30)
  expect(segments.map((segment) => segment.text).join(' ')).toBe(text)
  const perRound = segments.length / times
  for (const [index, { start }] of segments.entries()) {
    const round = (Math.floor(index / perRound) * durationSeconds) / times
    expect(Math.abs(start - (segments[index % perRound]!.start + round))).toBeLessThan(0.1)
  }
  expect(progress).toEqual(progress.toSorted((one, other) => one - other))
  expect(progress.length).toBeGreaterThanOrEqual(2)
  expect(progress.at(-1)).toBeCloseTo(1, 2)
})

test('warns when only the beginning of a text was read', async () => {
  const { wav, text } = sampleOf('text')
  const { segments, warnings } = await transcribe(wav, {
    expected: 'text',
    text: `${text} Please come back soon.`,
  })
  expect(segments).toHaveLength(text.split(' ').length)
  expect(warnings).toEqual([
    { code: 'text_not_spoken', message: 'The last 4 of 39 words of the text were not heard.' },
  ])
})

test.each<[string, Float32Array, string]>([
  ['silence', new Float32Array(3 * RATE), 'silence'],
  ['a constant offset', new Float32Array(RATE).fill(0.5), 'nothing_recognised'],
  ['a tone', tone(440, RATE, 3), 'nothing_recognised'],
])('hears no words in %s, and says so', async (_, sound, code) => {
  expect(await transcribe(wavFile(sound))).toMatchObject({ segments: [], warnings: [{ code }] })
})

test('warns about a truncated file', async () => {
  const { segments, warnings } = await transcribe(digits.wav.subarray(0, digits.wav.length - 32_000))
  expect(segments.length).toBeGreaterThan(0)
  expect(warnings).toMatchObject([{ code: 'truncated_wav' }])
})

test('rejects words that are not in the dictionary', async () => {
  await expect(
    transcribe(digits.wav, { expected: 'phrases', phrases: ['open the door', 'zzq'] }),
  ).rejects.toMatchObject({
    status: 422,
    code: 'unknown_words',
  })
})

test('transcribes a short recording while a long one is in progress', async () => {
  const { wav } = await repeated(40)
  let isLongDone = false
  const long = transcribe(wav).then(() => (isLongDone = true))
  expect(textOf(await transcribe(digits.wav))).toBe(digits.text)
  expect(isLongDone).toBe(false)
  await long
})

test('stops at once when it is aborted, and transcribes the next recording', async () => {
  const controller = new AbortController()
  const { wav } = await repeated(40)
  const aborted = transcribe(wav, undefined, controller)
  controller.abort(new Error('enough'))
  await expect(aborted).rejects.toThrow('enough')
  expect(textOf(await transcribe(digits.wav))).toBe(digits.text)
  await expect(transcribe(digits.wav, undefined, controller)).rejects.toThrow('enough')
})

test('fails the recordings in progress when it closes', async () => {
  const closing = createGrammarEngine()
  const { signal } = new AbortController()
  const options = { expected: { expected: 'digits' as const }, signal, onProgress: () => {} }
  const outcome = closing.transcribe(sampleFile('order-number.wav'), options)
  await Promise.all([
    closing.close(),
    expect(outcome).rejects.toMatchObject({ status: 503, code: 'engine_closed' }),
  ])
  await expect(closing.transcribe(sampleFile('order-number.wav'), options)).rejects.toMatchObject({
    status: 503,
  })
})

test('adds no listeners to the process', async () => {
  const before = process.eventNames().map((name) => [name, process.listenerCount(name)])
  await transcribe(digits.wav)
  expect(process.eventNames().map((name) => [name, process.listenerCount(name)])).toEqual(before)
})
