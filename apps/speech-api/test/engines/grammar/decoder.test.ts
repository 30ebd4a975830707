import process from 'node:process'
import { beforeAll, expect, test } from 'vitest'
import { createDecoder, type Decoder, SAMPLE_RATE } from '../../../src/engines/grammar/decoder.ts'
import { fixedGrammar } from '../../../src/engines/grammar/grammars.ts'
import { sampleOf, samplesOf } from '../../support/recordings.ts'

// What is known of SoundSwallower's faults, and that they do no harm here.

/** Without the listener that the package adds to the process, where it is not a thread of its own. */
async function loadDecoder(): Promise<Decoder> {
  const before = process.listeners('uncaughtException')
  const decoder = await createDecoder()
  for (const listener of process.listeners('uncaughtException')) {
    if (!before.includes(listener)) process.off('uncaughtException', listener)
  }
  return decoder
}

const spoken = await samplesOf(sampleOf('digits').wav, SAMPLE_RATE)
const grammar = fixedGrammar('digits')
const textOf = (words: readonly { text: string }[]) => words.map(({ text }) => text).join(' ')

let decoder: Decoder
beforeAll(async () => void (decoder = await loadDecoder()))

test('hears words, with their times', async () => {
  const words = await decoder.hear(spoken, grammar)
  expect(textOf(words)).toBe('four two seven one nine zero')
  for (const [index, { start, end, score }] of words.entries()) {
    expect(start).toBeGreaterThanOrEqual(words[index - 1]?.end ?? 0)
    expect(end).toBeGreaterThan(start)
    expect(end).toBeLessThan(spoken.length / SAMPLE_RATE)
    expect(score).toBeGreaterThan(0.9)
  }
})

test('a recording does not change the transcript of the next one', async () => {
  const fresh = await loadDecoder()
  const expected = await fresh.hear(spoken, grammar)
  const loud = spoken.map((sample, index) => 20 * sample + 0.2 * Math.sin(index))
  await decoder.hear(loud, grammar)
  expect(await decoder.hear(spoken, grammar)).toEqual(expected)
})

test('hears nothing where nothing that the grammar allows was said', async () => {
  const tooLong = `#JSGF V1.0; grammar g; public <g> = ${'nine '.repeat(50)};`
  expect(await decoder.hear(spoken.subarray(0, 2_000), tooLong)).toEqual([])
  expect(await decoder.hear(new Float32Array(1), grammar)).toEqual([])
  expect(await decoder.hear(new Float32Array(), grammar)).toEqual([])
})

test('hears the next recording after a failure', async () => {
  await expect(decoder.hear(spoken, 'not a grammar')).rejects.toThrow('parse')
  expect(textOf(await decoder.hear(spoken, grammar))).toBe('four two seven one nine zero')
})

test('knows the words of its dictionary, in lower case', () => {
  expect(['hello', "o'clock", 'a.m.', 'x-ray'].map((word) => decoder.knows(word))).toEqual(
    Array(4).fill(true),
  )
  expect(['zzq', 'Hello', '', ' '].map((word) => decoder.knows(word))).toEqual(Array(4).fill(false))
})
