import { expect, test } from 'vitest'
import { wordErrors } from './word-accuracy.ts'

test.each([
  ['', '', 0],
  ['1 2 3', '1 2 3', 0],
  ['1 2 3', '', 3],
  ['', '1 2', 2],
  ['1 2 3', '1 3', 1],
  ['1 2 3', '1 2 2 3', 1],
  ['1 2 3', '1 9 3', 1],
  ['1 2 3 4', '2 3 4 1', 2],
])('from "%s" to "%s" takes %d changes', (said, heard, errors) => {
  const words = (text: string) => text.split(' ').filter(Boolean)
  expect(wordErrors(words(said), words(heard))).toBe(errors)
})
