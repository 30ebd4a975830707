import { expect, test } from 'vitest'
import { wordsOf } from '../../src/page/words.ts'

test('words of one segment share its time by their length', () => {
  const segments = [
    { start: 1, end: 2, text: ' one  three ', confidence: 1 },
    { start: 2.5, end: 3, text: '7', confidence: 1 },
  ]
  expect(wordsOf({ segments })).toEqual([
    { text: 'one', start: 1, end: 1.375 },
    { text: 'three', start: 1.375, end: 2 },
    { text: '7', start: 2.5, end: 3 },
  ])
})

test('an empty segment has no words', () => {
  expect(wordsOf({ segments: [{ start: 0, end: 1, text: ' ', confidence: 0 }] })).toEqual([])
})
