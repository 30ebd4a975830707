import type { TranscriptSegment } from '../../speech/transcript.ts'

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
