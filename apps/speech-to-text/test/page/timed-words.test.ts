import { expect, test } from 'vitest'
import { timedWords } from '../../src/page/downloads/subtitles.ts'

test('divides the time of a segment by the length of its words', () => {
  const segments = [
    { start: 1, end: 2, text: ' one  three ', confidence: 1 },
    { start: 2.5, end: 3, text: '7', confidence: 1 },
  ]
  expect(timedWords({ segments })).toEqual([
    { text: 'one', start: 1, end: 1.375 },
    { text: 'three', start: 1.375, end: 2 },
    { text: '7', start: 2.5, end: 3 },
  ])
})

test('returns no words for an empty segment', () => {
  expect(timedWords({ segments: [{ start: 0, end: 1, text: ' ', confidence: 0 }] })).toEqual([])
})
