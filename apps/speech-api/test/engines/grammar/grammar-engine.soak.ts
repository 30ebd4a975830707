import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { createGrammarEngine, type JobResponse, type Transcript } from '@tokenwell/speech-api'
import { createRandom } from '@tokenwell/internal-testing/random'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { joinSamples } from '../../../src/wav/resampler.ts'
import { digits, repeated, resampled, samples, samplesOf } from '../../support/recordings.ts'
import { startTestApi, VALID_TOKEN } from '../../support/test-api.ts'
import { wavFile } from '../../support/wav-file.ts'

const table = createSoakTable()
const { signal } = new AbortController()
const megabytes = () => Math.round(process.memoryUsage().rss / 1e6)

/**
 * Measures how long this thread computes between two turns of its event loop. Processor time: on a busy machine, a thread
 * also waits for its turn.
 */
function watchEventLoop(): { stop(): number } {
  const computed = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let last = computed()
  let longestMs = 0
  const look = () => {
    const now = computed()
    longestMs = Math.max(longestMs, now - last)
    last = now
  }
  const timer = setInterval(look, 5)
  return {
    stop() {
      look()
      clearInterval(timer)
      return longestMs
    },
  }
}

/** The samples, and each with other words expected, quieter and cut off. */
const recordings = samples
  .filter(({ expected }) => expected.grammar !== 'text')
  .flatMap(({ wav, expected }, index) => {
    const spoken = samplesOf(wav)
    const changed = [spoken, spoken.map((sample) => sample / 5), spoken.subarray(0, spoken.length * 0.7)]
    const other = samples[(index + 1) % 5]!.expected
    return [...changed.map((sound) => [sound, expected] as const), [spoken, other] as const]
  })
  .map(([sound, expected]) => ({ wav: wavFile(sound), expected }))

async function* whole(file: Uint8Array): AsyncGenerator<Uint8Array> {
  yield file
}

test('transcribes 1,000 recordings in any order like each alone, in constant memory', async () => {
  const transcribe = (engine: ReturnType<typeof createGrammarEngine>, index: number): Promise<Transcript> => {
    const { wav, expected } = recordings[index]!
    return engine.transcribe(whole(wav), { signal, expected })
  }
  const alone: Transcript[] = []
  for (const index of recordings.keys()) {
    const fresh = createGrammarEngine({ threads: 1 })
    alone.push(await transcribe(fresh, index))
    await fresh.close()
  }

  const began = performance.now()
  const engine = createGrammarEngine({ threads: 2 })
  onTestFinished(() => engine.close())
  await transcribe(engine, 0)
  const firstMs = performance.now() - began
  expect(firstMs).toBeLessThan(4_000)
  await table.measure('recordings of 3 s, in random order', async () => {
    const random = createRandom(20_261_126)
    const after: number[] = []
    let done = 0
    const next = async (): Promise<void> => {
      while (done < 1_000) {
        done++
        if (done === 100 || done === 1_000) after.push(megabytes())
        const index = Math.floor(random() * recordings.length)
        expect(await transcribe(engine, index)).toEqual(alone[index])
      }
    }
    await Promise.all([next(), next(), next()])
    const [early = 0, late = 0] = after
    expect(late - early).toBeLessThan(60)
    const figures = `first transcript after ${(firstMs / 1_000).toFixed(1)} s; ${early} MB after 100, ${late} MB after 1,000`
    return { calls: done, failures: 0, figures }
  })
})

test('transcribes half an hour as a job, in constant memory, without blocking the server', async () => {
  const rounds = Math.ceil((30 * 60) / (samplesOf(digits.wav).length / 16_000 + 0.4))
  const { wav, text } = repeated(rounds)
  const file = Uint8Array.from(wavFile(resampled(samplesOf(wav), 8_000), { sampleRate: 8_000, bits: 8 }))
  await using api = await startTestApi({ longAudioSeconds: 60 })
  const headers = { authorization: `Bearer ${VALID_TOKEN}` }
  expect((await api.post(digits.wav)).status).toBe(200) // the model is loaded
  await table.measure('a recording of half an hour', async () => {
    const before = megabytes()
    let most = before
    const response = await api.post(file)
    expect(response.status).toBe(202)
    const progress: number[] = []
    const eventLoop = watchEventLoop()
    let job = (await response.json()) as JobResponse
    while (job.state !== 'done') {
      expect(['waiting', 'running']).toContain(job.state)
      progress.push(job.progress ?? 0)
      most = Math.max(most, megabytes())
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      const polled = await fetch(`${api.url}${response.headers.get('location')}`, { headers })
      job = (await polled.json()) as JobResponse
    }
    const worstMs = eventLoop.stop()
    expect(progress).toEqual(progress.toSorted((one, other) => one - other))
    expect(new Set(progress).size).toBeGreaterThan(10)
    expect(job.result?.text).toBe(text)
    expect(most - before).toBeLessThan(150)
    expect(worstMs).toBeLessThan(50)
    return { calls: 1, failures: 0, worstMs, figures: `${before} MB before, ${most} MB at most` }
  })
})

test('builds the largest grammars that a client may send, without blocking the server', async () => {
  const engine = createGrammarEngine({ threads: 1 })
  onTestFinished(() => engine.close())
  const { text } = samples.find(({ expected }) => expected.grammar === 'text')!
  const words = text
    .toLowerCase()
    .replaceAll(/[^a-z ]/g, '')
    .split(' ')
  const random = createRandom(7)
  const some = (count: number) =>
    Array.from({ length: count }, () => words[Math.floor(random() * words.length)]).join(' ')
  const half = joinSamples([samplesOf(digits.wav), samplesOf(samples[0]!.wav)])
  for (const [what, expected] of [
    ['200 phrases of 25 words', { grammar: 'phrases', phrases: Array.from({ length: 200 }, () => some(25)) }],
    [
      '5 phrases of 1,000 words',
      { grammar: 'phrases', phrases: Array.from({ length: 5 }, () => some(1_000)) },
    ],
    ['one phrase of 5,000 words', { grammar: 'phrases', phrases: [some(5_000)] }],
    ['a text of 5,000 words', { grammar: 'text', text: some(5_000) }],
  ] as const) {
    await table.measure(what, async () => {
      const eventLoop = watchEventLoop()
      const { segments, uncertain } = await engine.transcribe(whole(wavFile(half)), { signal, expected })
      const worstMs = eventLoop.stop()
      expect(segments.length === 0 || uncertain).toBe(true)
      expect(worstMs).toBeLessThan(50)
      return { calls: 1, failures: 0, worstMs }
    })
  }
})
