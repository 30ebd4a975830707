/** A word as it is written, and the words of the dictionary that one hears. */
export interface WrittenWord {
  readonly text: string
  /** More than one for `re-record`. */
  readonly spoken: readonly string[]
}

export interface SplitText {
  readonly words: readonly WrittenWord[]
  /** Those that are not in the dictionary, as they are written. */
  readonly unknown: readonly string[]
}

/** Splits a text into its words. Punctuation stays at the word before it. */
export function splitText(text: string, knows: (word: string) => boolean): SplitText {
  const words: WrittenWord[] = []
  const unknown: string[] = []
  for (const token of text.split(/\s+/).filter(Boolean)) {
    const last = words.at(-1)
    const spoken = spokenWords(token, knows)
    if (!spoken) unknown.push(token.replaceAll(OUTER, ''))
    else if (spoken.length > 0) words.push({ text: token, spoken })
    else if (last) words[words.length - 1] = { ...last, text: `${last.text} ${token}` }
  }
  return { words, unknown }
}

const OUTER = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu

/** The words of the dictionary for a written one: none for punctuation, undefined if there are none. */
function spokenWords(token: string, knows: (word: string) => boolean): string[] | undefined {
  if (!/[\p{L}\p{N}]/u.test(token)) return []
  const plain = token.normalize('NFKD').replaceAll(/\p{M}/gu, '').replaceAll(/[‘’]/g, "'").toLowerCase()
  const isKnown = (word: string) => IS_WORD.test(word) && knows(word)
  // `a.m.` and `'em` are in the dictionary with their punctuation.
  const whole = [plain.replaceAll(/[^a-z0-9'.]+$|^[^a-z0-9']+/g, ''), plain.replaceAll(OUTER, '')]
  const found = whole.find(isKnown)
  if (found !== undefined) return [found]
  const parts = plain.replaceAll(OUTER, '').split(/[-–—/]+/)
  return parts.every(isKnown) ? parts : undefined
}

/** Nothing that means something in a grammar. */
const IS_WORD = /^[a-z'.-]*[a-z][a-z'.-]*$/
