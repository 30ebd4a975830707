import type { SpeechSegment } from '../speech-engine.ts'

const CLOCK = String.raw`((?:\d+:)?\d+:\d+[.,]\d+)`
/** `[00:00:01.500 --> 00:00:02.000]  text`: whisper-cli and subtitles. */
const SPAN = new RegExp(String.raw`^\[?${CLOCK} --> ${CLOCK}\]?\s*(.*)$`)
/** `word 1.500 2.000 0.998`: pocketsphinx with `-time yes`. */
const WORD = /^(\S+) (\d+\.\d+) (\d+\.\d+) (\d+\.\d+)$/
/** `<sil>`, `[NOISE]`, `++UM++`, `(NULL)`: sounds and gaps that are not words. */
const FILLER = /^(?:<.*>|\[.*\]|\+\+.*\+\+|\(.*\))$/

/** Parses one line of a program's output; undefined if it has no times. The text is empty if the line has no words. */
export function parseTimedLine(line: string): SpeechSegment | undefined {
  const span = SPAN.exec(line.trim())
  if (span) {
    const [, start = '', end = '', text = ''] = span
    return { start: seconds(start), end: seconds(end), text: FILLER.test(text) ? '' : text }
  }
  const word = WORD.exec(line.trim())
  if (!word) return undefined
  const [, text = '', start, end, confidence] = word
  return {
    start: Number(start),
    end: Number(end),
    // `two(2)` is the second pronunciation of `two`.
    text: FILLER.test(text) ? '' : text.replace(/\(\d+\)$/, ''),
    confidence: Math.min(1, Number(confidence)),
  }
}

function seconds(clock: string): number {
  return clock
    .replace(',', '.')
    .split(':')
    .reduce((sum, part) => sum * 60 + Number(part), 0)
}

/**
 * Reads the output of a speech recognition program: JSON with segments, lines with times, or plain text, which becomes
 * one segment as long as the recording.
 *
 * @throws {TypeError} if it is JSON without valid segments
 */
export function readOutput(output: string, durationSeconds: number): SpeechSegment[] {
  const text = output.trim()
  const within = (seconds: number) => Math.min(durationSeconds, Math.max(0, seconds))
  const segments = readJson(text) ?? readLines(text) ?? [{ start: 0, end: durationSeconds, text }]
  return segments
    .map(({ start, end, text: words, ...rest }) => ({
      start: within(start),
      end: Math.max(within(start), within(end)),
      text: words.trim().replaceAll(/\s+/g, ' '),
      ...rest,
    }))
    .filter((segment) => segment.text !== '')
}

function readLines(text: string): SpeechSegment[] | undefined {
  const timed = text.split('\n').map(parseTimedLine)
  // Programs that print times also print the text alone, which is ignored.
  const segments = timed.filter((segment) => segment !== undefined)
  return segments.length > 0 ? segments : undefined
}

function readJson(text: string): SpeechSegment[] | undefined {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    if (text.startsWith('{')) throw new TypeError('The program printed incomplete JSON.')
    return undefined
  }
  // A number is JSON too, but here it is plain text.
  if (typeof json !== 'object' || json === null) return undefined
  const list: unknown = Array.isArray(json) ? json : Object(json).segments
  if (!Array.isArray(list)) throw new TypeError('The program printed JSON without segments.')
  return list.map(readSegment)
}

function readSegment(value: unknown): SpeechSegment {
  const { start, end, text, confidence } = Object(value)
  if (!Number.isFinite(start) || !Number.isFinite(end) || typeof text !== 'string') {
    throw new TypeError('The program printed a segment that lacks start, end or text.')
  }
  return { start, end, text, ...(Number.isFinite(confidence) && { confidence }) }
}
