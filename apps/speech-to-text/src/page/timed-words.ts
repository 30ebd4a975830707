import type { Transcript } from '../speech/transcript.ts'

export interface TimedWord {
  readonly text: string
  /** Seconds from the start of the recording. */
  readonly start: number
  readonly end: number
}

/** Splits a transcript into words with times. Within a segment, a word's share of the time depends on its length. */
export function timedWords({ segments }: Pick<Transcript, 'segments'>): TimedWord[] {
  return segments.flatMap(({ text, start, end }) => {
    const words = text.split(/\s+/).filter(Boolean)
    const perLetter = (end - start) / words.join('').length
    let at = start
    return words.map((word) => ({ text: word, start: at, end: (at += word.length * perLetter) }))
  })
}
