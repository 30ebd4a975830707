import { fileURLToPath } from 'node:url'
import createModule from 'soundswallower'

/** What the acoustic model was trained with: speech over telephones. */
export const SAMPLE_RATE = 8_000

export interface HeardWord {
  readonly text: string
  /** Seconds from the start of the samples. */
  readonly start: number
  readonly end: number
  /** The decoder's acoustic score of the word, from 0 to 1: smaller for a longer word, so not to be compared. */
  readonly score: number
}

/** Recognises speech with SoundSwallower, the WebAssembly build of PocketSphinx. It blocks its thread meanwhile. */
export interface Decoder {
  knows(word: string): boolean
  /**
   * Recognises the words of one utterance. The calls must not overlap.
   *
   * @param grammar in JSGF, of known words only
   */
  hear(samples: Float32Array, grammar: string): Promise<HeardWord[]>
}

const SETTINGS = {
  samprate: SAMPLE_RATE, // 44,100 by default
  // Grammars list all that can be said, so their probabilities say nothing about what was said.
  lw: 1,
  wip: 1e-4,
}
/** A word that the end of a recording cuts off is recognised only before silence. */
const MARGIN = 0.2
const FRAMES_PER_SECOND = 100

/** Loads the model and the dictionary, which takes half a second and 60 MB. They are never unloaded: `delete` leaks. */
export async function createDecoder(): Promise<Decoder> {
  const silent = () => undefined
  const settings = {
    modelBase: fileURLToPath(new URL('model/', import.meta.resolve('soundswallower'))),
    print: silent,
    printErr: silent,
  }
  const { Decoder: NativeDecoder } = await createModule(settings)
  const decoder = new NativeDecoder(SETTINGS)
  await decoder.initialize()
  let current: string | undefined

  return {
    knows: (word) => decoder.lookup_word(word) !== null,
    async hear(samples, grammar) {
      if (grammar !== current) {
        current = undefined
        decoder.set_grammar(grammar)
        current = grammar
      }
      // Otherwise what it has learnt about the noise of one recording would change the transcript of the next.
      await decoder.reinitialize_audio()
      decoder.start()
      try {
        decoder.process_audio(withMargins(samples), false, true)
      } finally {
        // A decoder that was not stopped cannot be started again.
        decoder.stop()
      }
      // Without phones: for those, it fails if nothing that the grammar allows was said.
      const words = decoder.get_alignment({}).w ?? []
      return words
        .filter(({ t, d }) => !isFiller(t) && d <= longest(decoder.lookup_word(t)))
        .map(({ t, b, d, p }) => ({
          text: t.replace(/\(\d+\)$/, ''), // `two(2)` is the second pronunciation of `two`
          start: toFrame(b - MARGIN),
          end: toFrame(b + d - MARGIN),
          score: p,
        }))
    },
  }
}

function withMargins(samples: Float32Array): Float32Array {
  const margin = MARGIN * SAMPLE_RATE
  const padded = new Float32Array(samples.length + 2 * margin)
  padded.set(samples, margin)
  return padded
}

function toFrame(seconds: number): number {
  return Math.round(seconds * FRAMES_PER_SECOND) / FRAMES_PER_SECOND
}

/** `<sil>`, `[NOISE]`, `(NULL)`: what is between words. */
function isFiller(word: string): boolean {
  return /^[<[(]/.test(word)
}

const PHONE_SECONDS = 0.3

/** The longest that a word may take, by its phones: a tone or a hiss fits a sound well, but lasts longer. */
function longest(phones: string | null): number {
  return PHONE_SECONDS * ((phones ?? '').split(' ').length + 1)
}
