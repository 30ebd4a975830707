import type { Transcript } from '../transcript.ts'

export interface Word {
  readonly text: string
  /** Seconds from the start of the recording. */
  readonly start: number
  readonly end: number
}

/** The words of a transcript with their times; within a segment, times are shared out by length. */
export function wordsOf({ segments }: Pick<Transcript, 'segments'>): Word[] {
  return segments.flatMap(({ text, start, end }) => {
    const words = text.split(/\s+/).filter(Boolean)
    const perLetter = (end - start) / words.join('').length
    let at = start
    return words.map((word) => ({ text: word, start: at, end: (at += word.length * perLetter) }))
  })
}
