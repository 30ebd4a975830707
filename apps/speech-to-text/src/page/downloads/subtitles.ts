import type { Transcript, TranscriptSegment } from '../../speech/speech-api-response.ts'

export interface TimedWord {
  readonly text: string
  /** Seconds from the start of the recording. */
  readonly start: number
  readonly end: number
  /** Whether the sound fits the word badly. */
  readonly uncertain: boolean
}

/** Below it, the speech API calls a transcript uncertain. */
const MIN_CONFIDENCE = 0.5

/** Splits a transcript into words with times. Within a segment, a word's share of the time depends on its length. */
export function timedWords({ segments }: Pick<Transcript, 'segments'>): TimedWord[] {
  return segments.flatMap(({ text, start, end, confidence = 1 }) => {
    const words = text.split(/\s+/).filter(Boolean)
    const perLetter = (end - start) / words.join('').length
    let at = start
    const uncertain = confidence < MIN_CONFIDENCE
    return words.map((word) => ({ text: word, start: at, end: (at += word.length * perLetter), uncertain }))
  })
}

/** Characters; the usual limit for subtitles. */
const maxLineLength = 42
/** Seconds of silence within a line. */
const maxPause = 1

/** Creates SubRip subtitles. Segments that follow each other closely share a line. */
export function subtitles(segments: readonly TranscriptSegment[]): string {
  return linesOf(segments)
    .map(({ start, end, text }, index) => `${index + 1}\n${timecode(start)} --> ${timecode(end)}\n${text}\n`)
    .join('\n')
}

type Line = Pick<TranscriptSegment, 'start' | 'end' | 'text'>

function linesOf(segments: readonly TranscriptSegment[]): Line[] {
  const lines: Line[] = []
  for (const { start, end, text } of segments) {
    const last = lines.at(-1)
    const joined = last && `${last.text} ${text}`
    if (last && joined && joined.length <= maxLineLength && start - last.end <= maxPause) {
      lines[lines.length - 1] = { start: last.start, end, text: joined }
    } else {
      lines.push({ start, end, text })
    }
  }
  return lines
}

/** `HH:MM:SS,mmm` */
function timecode(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000)
  const part = (unit: number, size: number, digits: number) =>
    String(Math.floor(milliseconds / unit) % size).padStart(digits, '0')
  return `${part(3_600_000, 100, 2)}:${part(60_000, 60, 2)}:${part(1000, 60, 2)},${part(1, 1000, 3)}`
}

export const formats = ['txt', 'srt', 'json'] as const

export type Format = (typeof formats)[number]

/** Converts a transcript to a file. */
export function transcriptFile(transcript: Transcript, format: Format): Blob {
  switch (format) {
    case 'txt':
      return new Blob([`${transcript.text}\n`], { type: 'text/plain;charset=utf-8' })
    case 'srt':
      return new Blob([subtitles(transcript.segments)], { type: 'application/x-subrip;charset=utf-8' })
    case 'json':
      return new Blob([`${JSON.stringify(transcript, null, 2)}\n`], { type: 'application/json' })
  }
}
