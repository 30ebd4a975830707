import { expect, test } from 'vitest'
import { subtitles, timedWords } from '../../src/page/downloads/subtitles.ts'

const segment = (start: number, end: number, text: string) => ({ start, end, text, confidence: 1 })

test('joins words in one line up to a pause or the maximum length', () => {
  const words = Array.from({ length: 25 }, (_, index) =>
    segment(index * 0.5, index * 0.5 + 0.4, `${index % 10}`),
  )
  expect(subtitles([...words, segment(3725.5, 3725.9996, 'nine')])).toBe(`1
00:00:00,000 --> 00:00:10,400
0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0

2
00:00:10,500 --> 00:00:12,400
1 2 3 4

3
01:02:05,500 --> 01:02:06,000
nine
`)
})

test('does not split a long segment', () => {
  const long = 'twenty one'.repeat(10)
  expect(subtitles([segment(0, 1, long), segment(1, 2, 'one')])).toContain(`\n${long}\n`)
  expect(subtitles([])).toBe('')
})

test('divides the time of a segment by the length of its words', () => {
  const segments = [
    { start: 1, end: 2, text: ' one  three ', confidence: 1 },
    { start: 2.5, end: 3, text: '7', confidence: 0.4 },
  ]
  expect(timedWords({ segments })).toEqual([
    { text: 'one', start: 1, end: 1.375, uncertain: false },
    { text: 'three', start: 1.375, end: 2, uncertain: false },
    { text: '7', start: 2.5, end: 3, uncertain: true },
  ])
})

test('returns no words for an empty segment', () => {
  expect(timedWords({ segments: [{ start: 0, end: 1, text: ' ', confidence: 0 }] })).toEqual([])
})
