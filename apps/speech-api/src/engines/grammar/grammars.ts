const DIGITS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
const LETTERS = [
  'alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo',
  'sierra tango uniform victor whiskey x-ray yankee zulu',
].flatMap((words) => words.split(' '))

const digit = '<digit> = zero | one | two | three | four | five | six | seven | eight | nine;'
const below1000 = `
  <unit> = one | two | three | four | five | six | seven | eight | nine;
  <teen> = ten | eleven | twelve | thirteen | fourteen | fifteen | sixteen | seventeen | eighteen | nineteen;
  <tens> = twenty | thirty | forty | fifty | sixty | seventy | eighty | ninety;
  <below100> = <unit> | <teen> | <tens> [<unit>];
  <below1000> = <below100> | (<unit> | a) hundred [[and] <below100>];`

/** Several are much less likely than one: the words of a number would also be those of several. */
const several = '<utterance> = <one> [/0.0001/ <utterance>];'

const rules = {
  digits: `<utterance> = <digit>+; ${digit}`,
  codes: `<utterance> = (<digit> | ${LETTERS.join(' | ')})+; ${digit}`,
  numbers: `${several}
    <one> = [minus] (zero | <whole>) [point <digit>+];
    <whole> = [<below1000> million] [<below1000> thousand [and]] <below1000>
      | [<below1000> million] <below1000> thousand | <below1000> million;
    ${digit} ${below1000}`,
}

/** The grammar in JSGF, of which the rule `<utterance>` is what is said, if anything is. */
function toJsgf(rulesOfIt: string): string {
  return `#JSGF V1.0; grammar speech; public <speech> = <utterance> | <NULL>; ${rulesOfIt}`
}

export type FixedGrammar = keyof typeof rules

export function fixedGrammar(name: FixedGrammar): string {
  return toJsgf(rules[name])
}

/** Digits and letters as they are written. The words of numbers stay words. */
export const characters: ReadonlyMap<string, string> = new Map([
  ...DIGITS.map((word, digit) => [word, String(digit)] as const),
  ...LETTERS.map((word) => [word, word.charAt(0).toUpperCase()] as const),
])

/** The grammar of sentences, each of them a list of words. */
export function phraseGrammar(phrases: readonly (readonly string[])[]): string {
  return toJsgf(`${several} <one> = ${phrases.map((words) => words.join(' ')).join(' | ')};`)
}

const BLOCK = 6

/**
 * The grammar of a text of which any beginning may be said, up to the end of one of its parts.
 *
 * Blocks of a few parts are quick to build: a rule in a rule for each part takes the decoder a second for 150 words.
 */
export function textGrammar(parts: readonly (readonly string[])[]): string {
  const blocks: string[] = []
  for (let from = 0; from < parts.length; from += BLOCK) {
    const block = parts.slice(from, from + BLOCK)
    const beginning = (length: number) => block.slice(0, length).flat().join(' ')
    const next = from + BLOCK < parts.length ? ` <b${blocks.length + 1}>` : ''
    const whole = `/1/ ${beginning(block.length)}${next}`
    const shorter = block.map((_, length) => beginning(length + 1)).slice(0, next ? undefined : -1)
    const alternatives = [whole, ...shorter.map((words) => `/${STOPS_HERE}/ ${words}`)]
    blocks.push(`<b${blocks.length}> = ${alternatives.join(' | ')};`)
  }
  return toJsgf(`<utterance> = <b0>; ${blocks.join(' ')}`)
}

const STOPS_HERE = 0.0001
