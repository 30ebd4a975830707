import { describe, expect, test } from 'vitest'
import { createListener, type GrammarSpeech } from '../../../src/engines/grammar/listener.ts'
import { splitText } from '../../../src/engines/grammar/written-words.ts'

const known = new Set(
  "a a.m. i'm the door open close leave message please re record at ten cafe u.s. x-ray 'em it well known".split(
    ' ',
  ),
)
const knows = (word: string) => known.has(word)
const listen = (expected: GrammarSpeech) => createListener(expected, knows)
const heard = (text: string, score = 0.9) =>
  text.split(' ').map((word, index) => ({ text: word, start: index, end: index + 1, score }))
const textsOf = (words: readonly { text: string }[]) => words.map(({ text }) => text)

describe('a text is split into words as they are written, and as they are spoken:', () => {
  test.each<[string, [string, string][]]>([
    [
      'Please, leave a message.',
      [
        ['Please,', 'please'],
        ['leave', 'leave'],
        ['a', 'a'],
        ['message.', 'message'],
      ],
    ],
    [
      'At ten a.m.',
      [
        ['At', 'at'],
        ['ten', 'ten'],
        ['a.m.', 'a.m.'],
      ],
    ],
    [
      '(I’m at the U.S.)',
      [
        ['(I’m', "i'm"],
        ['at', 'at'],
        ['the', 'the'],
        ['U.S.)', 'u.s.'],
      ],
    ],
    [
      '“Café” – X-ray',
      [
        ['“Café” –', 'cafe'],
        ['X-ray', 'x-ray'],
      ],
    ],
    [
      "re-record 'em",
      [
        ['re-record', 're record'],
        ["'em", "'em"],
      ],
    ],
    [
      '— Open\n\tthe   door !',
      [
        ['Open', 'open'],
        ['the', 'the'],
        ['door !', 'door'],
      ],
    ],
  ])('%s', (text, words) => {
    const split = splitText(text, knows)
    expect(split.words.map((word) => [word.text, word.spoken.join(' ')])).toEqual(words)
    expect(split.unknown).toEqual([])
  })

  test('with the words that are not in the dictionary', () => {
    const { words, unknown } = splitText('Open 2 (doors), the 4th well-made', knows)
    expect(textsOf(words)).toEqual(['Open', 'the'])
    expect(unknown).toEqual(['2', 'doors', '4th', 'well-made'])
  })
})

test.each(['phrases', 'text'] as const)('names words of the %s that are not in the dictionary', (kind) => {
  const text = `Open the doors, ${Array.from({ length: 12 }, (_, index) => `w${index}`).join(' ')} doors`
  const expected = kind === 'text' ? { expected: kind, text } : { expected: kind, phrases: ['open', text] }
  expect(() => listen(expected)).toThrow(
    expect.objectContaining({
      code: 'unknown_words',
      message:
        'These words are not in the dictionary: "doors", "w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8" and 3 more. Replace them, and write numbers as words.',
    }),
  )
})

/** Nothing but words of the dictionary and our own rules may be in a grammar. */
function rulesIn(jsgf: string | undefined): string {
  expect(jsgf).toMatch(/^#JSGF V1\.0; grammar speech; [a-z0-9'.\-\s<>=()[\]|;/+*NUL]*$/)
  return jsgf ?? ''
}

test.each([
  'open [[[[[[[[[[[[[[[[door]]]]]]]]]]]]]]]]',
  '<utterance> the door',
  'open; <utterance> = <utterance>;',
  'open | * + { the } door // /* */ /1/',
  '"open" (the) door*',
  '#JSGF V1.0; grammar open;',
  '<sil> [NOISE] (NULL) open(2)',
  '\u0000open\u0000 \\door',
])('takes no part of a grammar from outside: %s', (line) => {
  for (const expected of [
    { expected: 'phrases', phrases: [line] },
    { expected: 'text', text: line },
  ] as const) {
    try {
      const rules = rulesIn(listen(expected).grammarFor(1))
      expect(rules).not.toMatch(/\[\[|sil|NOISE|\(2\)/)
    } catch (error) {
      expect(error).toMatchObject({ code: 'unknown_words' })
    }
  }
})

describe('phrases', () => {
  const phrases = ['Open the door!', 'Close the door.', 'open the door at ten', '  ', '—', 'It']

  test('are returned as they are written', () => {
    const listener = listen({ expected: 'phrases', phrases })
    const read = (text: string) => textsOf(listener.read(heard(text))).join(' ')
    expect(read('close the door')).toBe('Close the door.')
    expect(read('open the door close the door')).toBe('Open the door! Close the door.')
    expect(read('open the door at ten it')).toBe('open the door at ten It')
    expect(listener.read([])).toEqual([])
    expect(listener.end()).toEqual([])
  })

  test('that repeat each other are told apart by what follows', () => {
    const listener = listen({ expected: 'phrases', phrases: ['a a', 'A A A'] })
    expect(textsOf(listener.read(heard('a '.repeat(7).trim()))).toSorted()).toEqual(
      ['A', 'A', 'A', 'a', 'a', 'a', 'a'].toSorted(),
    )
    expect(listener.read(heard('a'))).toEqual([])
  })
})

describe('a text', () => {
  const text = 'Please re-record the message, at ten a.m.'

  test('is returned as it is written, one utterance after another', () => {
    const listener = listen({ expected: 'text', text })
    expect(textsOf(listener.read(heard('please re record')))).toEqual(['Please', 're-record'])
    expect(listener.read([])).toEqual([])
    expect(listener.end()).toEqual([
      { code: 'text_not_spoken', message: 'The last 5 of 7 words of the text were not heard.' },
    ])
    expect(rulesIn(listener.grammarFor(9))).not.toContain('record')
    expect(textsOf(listener.read(heard('the message at ten a.m.')))).toEqual([
      'the',
      'message,',
      'at',
      'ten',
      'a.m.',
    ])
    expect(listener.grammarFor(9)).toBeUndefined()
    expect(listener.end()).toEqual([])
  })

  test('takes the time of all parts of a word, and the lowest of their scores', () => {
    const listener = listen({ expected: 'text', text: 're-record' })
    const [first, second] = heard('re record')
    expect(listener.read([first!, { ...second!, end: 4, score: 0.4 }])).toEqual([
      { text: 're-record', start: 0, end: 4, score: 0.4 },
    ])
  })

  test('is expected no faster than anybody speaks', () => {
    const listener = listen({ expected: 'text', text: 'door '.repeat(5_000) })
    expect(rulesIn(listener.grammarFor(10)).match(/<b\d+> =/g)).toHaveLength(10)
  })
})

test('digits and codes become characters, numbers stay words', () => {
  const read = (grammar: 'digits' | 'codes' | 'numbers', text: string) =>
    textsOf(listen({ expected: grammar }).read(heard(text))).join(' ')
  expect(read('digits', 'four zero')).toBe('4 0')
  expect(read('codes', 'x-ray four alpha')).toBe('X 4 A')
  expect(read('numbers', 'four hundred')).toBe('four hundred')
})
