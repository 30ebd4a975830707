import type { GrammarName } from '../speech-engine.ts'

const DIGITS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
const LETTERS = [
  'alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo',
  'sierra tango uniform victor whiskey x-ray yankee zulu',
].flatMap((words) => words.split(' '))
const MONTHS =
  'january | february | march | april | may | june | july | august | september | october | november | december'

const digit = '<digit> = zero | one | two | three | four | five | six | seven | eight | nine;'
const below1000 = `
  <unit> = one | two | three | four | five | six | seven | eight | nine;
  <teen> = ten | eleven | twelve | thirteen | fourteen | fifteen | sixteen | seventeen | eighteen | nineteen;
  <tens> = twenty | thirty | forty | fifty | sixty | seventy | eighty | ninety;
  <below100> = <unit> | <teen> | <tens> [<unit>];
  <below1000> = <below100> | (<unit> | a) hundred [[and] <below100>];`

/** Several are much less likely than one: the words of a number would also be those of several. */
const several = '<utterance> = <one> [/0.0001/ <utterance>];'

const rules: Readonly<Record<GrammarName, string>> = {
  digits: `<utterance> = <digit>+; ${digit}`,
  codes: `<utterance> = (<digit> | ${LETTERS.join(' | ')})+; ${digit}`,
  numbers: `${several}
    <one> = [minus] (zero | <whole>) [point <digit>+];
    <whole> = [<below1000> million] [<below1000> thousand [and]] <below1000>
      | [<below1000> million] <below1000> thousand | <below1000> million;
    ${digit} ${below1000}`,
  dates: `${several}
    <one> = <date> [[at] <time>] | <time> | <money>;
    <date> = [<weekday>] (<month> [the] <day> | [the] <day> [of] <month>) [<year>] | <weekday> | today | tomorrow | yesterday;
    <weekday> = sunday | monday | tuesday | wednesday | thursday | friday | saturday;
    <month> = ${MONTHS};
    <day> = <ordinal> | tenth | eleventh | twelfth | thirteenth | fourteenth | fifteenth | sixteenth | seventeenth
      | eighteenth | nineteenth | twentieth | twenty <ordinal> | thirtieth | thirty first;
    <ordinal> = first | second | third | fourth | fifth | sixth | seventh | eighth | ninth;
    <year> = (eighteen | nineteen | twenty) (<teen> | <tens> [<unit>] | oh <unit> | hundred) | two thousand [[and] <below100>];
    <time> = <hour> [o'clock | oh <unit> | <teen> | (twenty | thirty | forty | fifty) [<unit>]] [a.m. | p.m.]
      | (half past | quarter past | quarter to) <hour> | noon | midnight;
    <hour> = <unit> | ten | eleven | twelve;
    <money> = <below1000> [thousand] <currency> [[and] <below100> (cent | cents)] | <below100> (cent | cents);
    <currency> = dollar | dollars | euro | euros | pound | pounds;
    ${below1000}`,
}

/** The grammar in JSGF, of which the rule `<utterance>` is what is said, if anything is. */
function toJsgf(rulesOfIt: string): string {
  return `#JSGF V1.0; grammar speech; public <speech> = <utterance> | <NULL>; ${rulesOfIt}`
}

export function fixedGrammar(name: GrammarName): string {
  return toJsgf(rules[name])
}

/** Digits and letters as they are written. The words of numbers and dates stay words. */
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
