import { joinSamples } from '../../wav/resampler.ts'
import { areSilent, createWavReader } from '../../wav/wav-reader.ts'
import {
  createTranscript,
  type ExpectedSpeech,
  type SpeechSegment,
  type Transcript,
} from '../speech-engine.ts'
import { SAMPLE_RATE, type Decoder, type HeardWord } from './decoder.ts'
import { createListener } from './listener.ts'

export interface Transcription {
  /** Duration of the samples pushed so far. */
  readonly processedSeconds: number
  /** Takes the next bytes of a WAV file. */
  push(bytes: Uint8Array): Promise<void>
  end(): Promise<Transcript>
}

const MAX_UTTERANCE = 30 * SAMPLE_RATE
const PAUSE = 0.2 * SAMPLE_RATE
const STEP = 0.01 * SAMPLE_RATE

/**
 * Transcribes one WAV file as it arrives, in utterances of at most 30 s, which end in the quietest place.
 *
 * @throws {AudioError} as soon as the file turns out to be unreadable
 * @throws {ExpectedSpeechError} if a word of what is expected is not in the dictionary
 */
export function createTranscription(decoder: Decoder, expected: ExpectedSpeech): Transcription {
  const listener = createListener(expected, (word) => decoder.knows(word))
  const reader = createWavReader(SAMPLE_RATE)
  const segments: SpeechSegment[] = []
  let isUncertain = false
  let pending: Float32Array[] = []
  let length = 0
  let from = 0 // the position of the first pending sample

  const listenTo = async (samples: Float32Array): Promise<void> => {
    const grammar = listener.grammarFor(samples.length / SAMPLE_RATE)
    const sound = withoutOffset(samples)
    if (grammar === undefined || areSilent(sound)) return
    const words = listener.read(await decoder.hear(sound, grammar))
    const within = (seconds: number) => Math.min(samples.length / SAMPLE_RATE, Math.max(0, seconds))
    const inRecording = (seconds: number) =>
      Math.round((from / SAMPLE_RATE + within(seconds)) * 1_000) / 1_000
    for (const [index, { text, start, end }] of words.entries()) {
      const confidence = confidenceIn(words, index, THRESHOLDS[expected.grammar])
      isUncertain ||= confidence < 0.5
      segments.push({ start: inRecording(start), end: inRecording(end), text, confidence: round(confidence) })
    }
  }
  const take = async (samples: Float32Array): Promise<void> => {
    pending.push(samples)
    length += samples.length
    while (length > MAX_UTTERANCE) {
      const all = joinSamples(pending)
      const end = quietestPlace(all)
      pending = [all.slice(end)]
      length -= end
      await listenTo(all.subarray(0, end))
      from += end
    }
  }

  return {
    get processedSeconds() {
      return reader.durationSeconds
    },
    push: (bytes) => take(reader.push(bytes)),
    async end() {
      await take(reader.end())
      await listenTo(joinSamples(pending))
      const warnings = listener.end()
      return createTranscript(reader, segments, {
        grammar: listener.grammar,
        uncertain: isUncertain,
        warnings,
      })
    },
  }
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

const NEIGHBOURS = 2
const STEEPNESS = 2
/** What fits worse is uncertain: between the misfit of what was said and that of other speech, see `pnpm measure`. */
interface Threshold {
  /** Of a word together with its neighbours. */
  readonly nearby: number
  /** Of a word alone: hardly any that was said fits worse, but a chord may sound like one word of two. */
  readonly word: number
}

const THRESHOLDS: Readonly<Record<ExpectedSpeech['grammar'], Threshold>> = {
  digits: { nearby: 3.9, word: 5.7 },
  numbers: { nearby: 3.8, word: 5.7 },
  dates: { nearby: 4.2, word: 5.7 },
  codes: { nearby: 4.4, word: 5.7 },
  // The small words of a sentence are hardly spoken.
  phrases: { nearby: 3.8, word: 6.5 },
  text: { nearby: 2.8, word: 5.7 },
}

/** How well the sound fits a word and its neighbours: a single word gives little evidence. 0.5 is as likely as not. */
function confidenceIn(words: readonly HeardWord[], index: number, threshold: Threshold): number {
  const nearby = words.slice(Math.max(0, index - NEIGHBOURS), index + NEIGHBOURS + 1)
  const duration = nearby.reduce((sum, { start, end }) => sum + end - start, 0)
  const misfit = nearby.reduce((sum, word) => sum + word.misfit * (word.end - word.start), 0) / duration
  const excess = Math.max(misfit - threshold.nearby, (words[index] as HeardWord).misfit - threshold.word)
  return 1 / (1 + Math.exp(STEEPNESS * excess))
}

function round(confidence: number): number {
  return Math.round(confidence * 1_000) / 1_000
}
