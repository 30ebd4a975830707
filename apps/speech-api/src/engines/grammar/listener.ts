import { ApiError } from '../../api-error.ts'
import type { ExpectedSpeech, TranscriptWarning } from '../speech-engine.ts'
import type { HeardWord } from './decoder.ts'
import { characters, type FixedGrammar, fixedGrammar, phraseGrammar, textGrammar } from './grammars.ts'
import { splitText, type WrittenWord } from './written-words.ts'

/** What a grammar can describe. */
export type GrammarSpeech =
  | { readonly expected: FixedGrammar }
  | Extract<ExpectedSpeech, { expected: 'phrases' | 'text' }>

/** What to listen for in one recording, and how it is written. */
export interface Listener {
  /** The grammar of the next utterance; undefined if no more is expected. */
  grammarFor(seconds: number): string | undefined
  /** Takes the words of that utterance and returns them as they are written. */
  read(heard: readonly HeardWord[]): HeardWord[]
  /** What was expected and not heard. */
  end(): TranscriptWarning[]
}

/** @throws {ApiError} if a word is not in the dictionary */
export function createListener(expected: GrammarSpeech, knows: (word: string) => boolean): Listener {
  switch (expected.expected) {
    case 'phrases':
      return listenForPhrases(expected.phrases, knows)
    case 'text':
      return listenForText(expected.text, knows)
    default:
      return listenFor(expected.expected)
  }
}

function listenFor(grammar: FixedGrammar): Listener {
  const asCharacters = grammar === 'digits' || grammar === 'codes'
  const write = (text: string) => (asCharacters ? (characters.get(text) ?? text) : text)
  const jsgf = fixedGrammar(grammar)
  return {
    grammarFor: () => jsgf,
    read: (heard) => heard.map((word) => ({ ...word, text: write(word.text) })),
    end: () => [],
  }
}

function listenForPhrases(lines: readonly string[], knows: (word: string) => boolean): Listener {
  const split = lines.map((line) => splitText(line, knows))
  rejectUnknown(split.flatMap(({ unknown }) => unknown))
  const phrases = new Map(split.map(({ words }) => [spokenIn(words).join(' '), words]))
  phrases.delete('')
  const jsgf = phraseGrammar([...phrases.keys()].map((words) => words.split(' ')))
  return {
    grammarFor: () => jsgf,
    read: (heard) =>
      write(
        wordsOf(
          heard.map(({ text }) => text),
          phrases,
        ) ?? [],
        heard,
      ),
    end: () => [],
  }
}

/** Nobody speaks faster. */
const MAX_WORDS_PER_SECOND = 6

function listenForText(text: string, knows: (word: string) => boolean): Listener {
  const { words, unknown } = splitText(text, knows)
  rejectUnknown(unknown)
  let position = 0
  return {
    grammarFor(seconds) {
      if (position === words.length) return undefined
      const next = words.slice(position, position + Math.ceil(seconds * MAX_WORDS_PER_SECOND))
      return textGrammar(next.map(({ spoken }) => spoken))
    },
    read(heard) {
      const written = write(words.slice(position), heard)
      position += written.length
      return written
    },
    end() {
      const missing = words.length - position
      if (missing === 0) return []
      const message = `The last ${missing} of ${words.length} words of the text were not heard.`
      return [{ code: 'text_not_spoken', message }]
    },
  }
}

const MAX_NAMED = 10

function rejectUnknown(unknown: readonly string[]): void {
  const words = [...new Set(unknown)]
  if (words.length === 0) return
  const named = words.slice(0, MAX_NAMED).map((word) => `"${word.slice(0, 40)}"`)
  const more = words.length > MAX_NAMED ? ` and ${words.length - MAX_NAMED} more` : ''
  throw new ApiError(
    422,
    'unknown_words',
    `These words are not in the dictionary: ${named.join(', ')}${more}. Replace them, and write numbers as words.`,
  )
}

function spokenIn(words: readonly WrittenWord[]): string[] {
  return words.flatMap(({ spoken }) => spoken)
}

/** Finds the phrases that were spoken one after another, and returns their words. */
function wordsOf(
  spoken: readonly string[],
  phrases: ReadonlyMap<string, readonly WrittenWord[]>,
): readonly WrittenWord[] | undefined {
  /** For each position, the words from there to the end: from the end, as a phrase may be the beginning of another. */
  const from: (readonly WrittenWord[] | undefined)[] = [...spoken.map(() => undefined), []]
  for (let start = spoken.length - 1; start >= 0; start--) {
    for (let end = start + 1; end <= spoken.length && !from[start]; end++) {
      const rest = from[end]
      const phrase = rest && phrases.get(spoken.slice(start, end).join(' '))
      if (phrase) from[start] = [...phrase, ...rest]
    }
  }
  return from[0]
}

/** The written words for those that were heard; each may have been heard as several. */
function write(words: readonly WrittenWord[], heard: readonly HeardWord[]): HeardWord[] {
  const written: HeardWord[] = []
  let from = 0
  for (const { text, spoken } of words) {
    const parts = heard.slice(from, from + spoken.length)
    from += spoken.length
    const [first] = parts
    if (!first || parts.length < spoken.length) break
    const score = Math.min(...parts.map((part) => part.score))
    written.push({ text, start: first.start, end: parts.at(-1)!.end, score })
  }
  return written
}
