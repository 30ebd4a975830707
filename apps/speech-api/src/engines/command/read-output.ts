import type { SpeechSegment } from '../speech-engine.ts'
import { parseTimedLine } from './parse-timed-line.ts'

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
