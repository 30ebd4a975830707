import { expect, test } from 'vitest'
import { wordErrors } from './word-errors.ts'

test.each([
  ['', '', 0],
  ['1 2 3', '1 2 3', 0],
  ['1 2 3', '', 3],
  ['', '1 2', 2],
  ['1 2 3', '1 3', 1],
  ['1 2 3', '1 2 2 3', 1],
  ['1 2 3', '1 9 3', 1],
  ['1 2 3 4', '2 3 4 1', 2],
])('counts the changes from "%s" to "%s": %d', (spoken, recognised, errors) => {
  const words = (text: string) => text.split(' ').filter(Boolean)
  expect(wordErrors(words(spoken), words(recognised))).toBe(errors)
})
