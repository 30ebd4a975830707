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
