import { joinSamples } from '../../wav/resampler.ts'
import { areSilent, openWavFile } from '../../wav/wav-file.ts'
import { createTranscript, type SpeechSegment, type Transcript } from '../speech-engine.ts'
import { SAMPLE_RATE, type Decoder } from './decoder.ts'
import { createListener, type GrammarSpeech } from './listener.ts'

const MAX_UTTERANCE = 30 * SAMPLE_RATE
const PAUSE = 0.2 * SAMPLE_RATE
const STEP = 0.01 * SAMPLE_RATE

export interface TranscribeFileOptions {
  readonly expected: GrammarSpeech
  readonly onProgress: (progress: number) => void
  /** Takes effect between two utterances. */
  readonly signal: AbortSignal
}

/** Transcribes one WAV file in utterances of at most 30 s, which end in the quietest place. */
export async function transcribeFile(
  decoder: Decoder,
  path: string,
  { expected, onProgress, signal }: TranscribeFileOptions,
): Promise<Transcript> {
  const listener = createListener(expected, (word) => decoder.knows(word))
  await using file = await openWavFile(path)
  const segments: SpeechSegment[] = []
  let isSilent = true
  let from = 0 // the position of the first pending sample
  const listenTo = async (samples: Float32Array): Promise<void> => {
    signal.throwIfAborted()
    const grammar = listener.grammarFor(samples.length / SAMPLE_RATE)
    const sound = withoutOffset(samples)
    const isQuiet = areSilent(sound)
    isSilent &&= isQuiet
    if (grammar !== undefined && !isQuiet) {
      const within = (seconds: number) =>
        round(from / SAMPLE_RATE + Math.min(samples.length / SAMPLE_RATE, Math.max(0, seconds)))
      for (const { text, start, end, score } of listener.read(await decoder.hear(sound, grammar)))
        segments.push({ start: within(start), end: within(end), text, score: round(score) })
    }
    from += samples.length
    onProgress(Math.min(1, from / SAMPLE_RATE / file.durationSeconds))
  }
  let pending: Float32Array = new Float32Array()
  for await (const samples of file.samples(SAMPLE_RATE)) {
    pending = joinSamples([pending, samples])
    while (pending.length > MAX_UTTERANCE) {
      const end = quietestPlace(pending)
      await listenTo(pending.subarray(0, end))
      pending = pending.slice(end)
    }
  }
  await listenTo(pending)
  const { durationSeconds, missingSeconds } = file
  return createTranscript({ durationSeconds, missingSeconds, isSilent }, segments, listener.end())
}

function withoutOffset(samples: Float32Array): Float32Array {
  const offset = samples.reduce((sum, sample) => sum + sample, 0) / samples.length
  return samples.map((sample) => sample - offset)
}

/** The middle of the quietest 200 ms in the second half of the longest possible utterance. */
function quietestPlace(samples: Float32Array): number {
  let place = MAX_UTTERANCE
  let least = Infinity
  for (let start = MAX_UTTERANCE / 2; start + PAUSE <= MAX_UTTERANCE; start += STEP) {
    let power = 0
    for (let index = start; index < start + PAUSE; index++) power += (samples[index] as number) ** 2
    if (power < least) {
      least = power
      place = start + PAUSE / 2
    }
  }
  return place
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
