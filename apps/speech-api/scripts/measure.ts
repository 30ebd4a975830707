import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { gunzipSync } from 'node:zlib'
import { createRandom } from '@tokenwell/internal-testing/random'
import { createGrammarEngine, type ExpectedSpeech, type GrammarName } from '@tokenwell/speech-api'
import { createWavReader } from '../src/wav/wav-reader.ts'
import { joinSamples } from '../src/wav/resampler.ts'
import { wavFile } from '../test/support/wav-file.ts'
import { espeak, flite, fliteVoices, isInstalled, type Sound } from './voices.ts'

// Measures the grammar engine and prints the tables of the README: `pnpm measure [part…]`. Takes about ten minutes.
// The voices are packages of Debian: flite, espeak-ng, and the prompts of Asterisk, which a person has spoken.

const random = createRandom(20_261_126)
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
const below = (limit: number) => Math.floor(random() * limit)

// What is said

const DIGITS = words('zero one two three four five six seven eight nine')
const TEENS = words('ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen')
const TENS = words('- - twenty thirty forty fifty sixty seventy eighty ninety')
const LETTERS = words(
  'alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey x-ray yankee zulu',
)
const MONTHS = words('january february march april may june july august september october november december')
const DAYS = words('sunday monday tuesday wednesday thursday friday saturday')
const ORDINALS = words(
  '- first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth',
)

function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean)
}

function cardinal(number: number): string {
  if (number >= 1_000_000) return grouped(number, 1_000_000, 'million')
  if (number >= 1_000) return grouped(number, 1_000, 'thousand')
  if (number >= 100) return grouped(number, 100, 'hundred')
  if (number >= 20)
    return [TENS[Math.floor(number / 10)], DIGITS[number % 10]].slice(0, number % 10 ? 2 : 1).join(' ')
  return (number < 10 ? DIGITS[number] : TEENS[number - 10]) as string
}

function grouped(number: number, unit: number, name: string): string {
  const rest = number % unit
  return `${cardinal(Math.floor(number / unit))} ${name}${rest ? ` ${cardinal(rest)}` : ''}`
}

const day = () => {
  const number = 1 + below(30)
  if (number <= 20) return ORDINALS[number]
  return number === 30 ? 'thirtieth' : `twenty ${ORDINALS[number - 20]}`
}
const dates = [
  () => `${pick(DAYS)} ${pick(MONTHS)} ${day()}`,
  () => `${pick(MONTHS)} ${day()} nineteen ${cardinal(10 + below(90))}`,
  () => `${pick(MONTHS)} ${day()} two thousand ${cardinal(1 + below(40))}`,
  () => `${cardinal(1 + below(12))} ${cardinal(10 + below(50))} ${pick(['p.m.', 'a.m.'])}`,
  () => `${cardinal(2 + below(998))} dollars`,
]
const sayings: Readonly<Record<GrammarName, () => string>> = {
  digits: () => Array.from({ length: 4 + below(5) }, () => pick(DIGITS)).join(' '),
  numbers: () => cardinal(below(10 ** (2 + below(6)))),
  dates: () => pick(dates)(),
  codes: () => Array.from({ length: 4 + below(4) }, () => pick(below(5) < 3 ? LETTERS : DIGITS)).join(' '),
}

// Who says it

const prompts = findPrompts()

interface Prompt {
  readonly text: string
  readonly wav: Buffer
}

/** Unpacks the packages instead of installing them: a container's dpkg may leave out the texts, which are documentation. */
function findPrompts(): ReadonlyMap<string, Prompt> {
  const missing = ['flite', 'espeak-ng'].filter((program) => !isInstalled(program))
  if (missing.length > 0) {
    const install = ['apt-get', 'install', '-y', ...missing]
    execFileSync(process.getuid?.() === 0 ? install.shift()! : 'sudo', install, { stdio: 'inherit' })
  }
  const folder = mkdtempSync(join(tmpdir(), 'prompts-'))
  try {
    const packages = ['asterisk-core-sounds-en', 'asterisk-core-sounds-en-wav']
    execFileSync('apt-get', ['download', ...packages], { cwd: folder, stdio: 'inherit' })
    for (const file of readdirSync(folder)) execFileSync('dpkg', ['-x', file, folder], { cwd: folder })
    const texts = gunzipSync(
      readFileSync(join(folder, 'usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz')),
    )
    const sounds = join(folder, 'usr/share/asterisk/sounds/en_US_f_Allison')
    const found = new Map<string, Prompt>()
    for (const line of texts.toString('utf8').split('\n')) {
      const [, name, text] = /^([^;:]+): +(.+)$/.exec(line) ?? []
      // In brackets: a tone, or a remark.
      if (!name || !text || /[[(]/.test(text)) continue
      try {
        found.set(name, { text, wav: readFileSync(join(sounds, `${name}.wav`)) })
      } catch {
        // Some texts have no recording.
      }
    }
    return found
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const fileOf = new Map<string, string>([
  ...[...DIGITS, ...TEENS].map((word, number) => [word, `digits/${number}`] as const),
  ...TENS.map((word, tens) => [word, `digits/${tens * 10}`] as const),
  ...ORDINALS.map((word, number) => [word, `digits/h-${number}`] as const),
  ...MONTHS.map((word, month) => [word, `digits/mon-${month}`] as const),
  ...DAYS.map((word, weekday) => [word, `digits/day-${weekday}`] as const),
  ...LETTERS.map((word) => [word, `phonetic/${word.charAt(0)}_p`] as const),
  ...words('hundred thousand million dollars').map((word) => [word, `digits/${word}`] as const),
  ['a.m.', 'digits/a-m'],
  ['p.m.', 'digits/p-m'],
  ['thirtieth', 'digits/h-30'],
])

const RATE = 8_000 // of the prompts

/** Joins recordings of single words, with pauses of 50 to 150 ms. */
function human(text: string): Buffer {
  const parts = words(text).flatMap((word) => [
    withoutSilence(samplesOf(prompts.get(fileOf.get(word) ?? '')!.wav)),
    new Float32Array(RATE * (0.05 + 0.1 * random())),
  ])
  const silence = new Float32Array(RATE * 0.2)
  return wavFile(joinSamples([silence, ...parts, silence]), { sampleRate: RATE })
}

function samplesOf(file: Buffer): Float32Array {
  const reader = createWavReader(RATE)
  return joinSamples([reader.push(file), reader.end()])
}

/** Without what is 40 dB below the loudest 20 ms. */
function withoutSilence(samples: Float32Array): Float32Array {
  const step = RATE / 50
  const powers = Array.from({ length: Math.floor(samples.length / step) }, (_, index) =>
    samples.subarray(index * step, (index + 1) * step).reduce((sum, sample) => sum + sample * sample, 0),
  )
  const least = Math.max(...powers) * 1e-4
  const first = powers.findIndex((power) => power > least)
  const last = powers.findLastIndex((power) => power > least)
  return samples.slice(Math.max(0, first - 1) * step, (last + 2) * step)
}

// What is heard

const engine = createGrammarEngine({ maxJobs: 1_000, timeoutMs: 3_600_000 })
const { signal } = new AbortController()

interface Heard {
  readonly words: string[]
  readonly starts: number[]
  readonly uncertain: boolean
}

async function hear(wav: Buffer, expected: ExpectedSpeech): Promise<Heard> {
  const audio = (async function* () {
    yield wav
  })()
  const { segments, uncertain = false } = await engine.transcribe(audio, { signal, expected })
  return {
    words: segments.map(({ text }) => text),
    starts: segments.map(({ start }) => start),
    uncertain,
  }
}

/** The fewest insertions, deletions and replacements between two sequences of words. */
function wordErrors(said: readonly string[], heard: readonly string[]): number {
  let row = [0, ...heard.map((_, index) => index + 1)]
  for (const [line, word] of said.entries()) {
    const next = [line + 1]
    for (const [index, other] of heard.entries()) {
      const replaced = (row[index] as number) + (word === other ? 0 : 1)
      next.push(Math.min(replaced, (row[index + 1] as number) + 1, (next[index] as number) + 1))
    }
    row = next
  }
  return row.at(-1) as number
}

const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`
const print = (line: string) => process.stdout.write(`${line}\n`)

interface Saying {
  readonly said: readonly string[]
  readonly wav: Buffer
  readonly expected: ExpectedSpeech
}

/** Prints a row: the words that were right, the recordings that were right, and those of them that were uncertain. */
async function measure(what: string, voice: string, sayings: readonly Saying[]): Promise<void> {
  let [said, errors, right, uncertain] = [0, 0, 0, 0]
  await Promise.all(
    sayings.map(async (saying) => {
      const heard = await hear(saying.wav, saying.expected)
      const wrong = wordErrors(saying.said, heard.words)
      said += saying.said.length
      errors += wrong
      if (wrong > 0) return
      right++
      if (heard.uncertain) uncertain++
    }),
  )
  const cells = [
    what,
    voice,
    String(said),
    percent(said - errors, said),
    `${right} of ${sayings.length}`,
    right ? percent(uncertain, right) : '',
  ]
  print(`| ${cells.join(' | ')} |`)
}

const asWritten = (grammar: GrammarName, text: string) =>
  grammar === 'digits' || grammar === 'codes'
    ? words(text).map((word) => {
        const digit = DIGITS.indexOf(word)
        return digit < 0 ? word.charAt(0).toUpperCase() : String(digit)
      })
    : words(text)

/** flite reads `p.m.` without the stops. */
const forVoices = (text: string) =>
  text.replace('p.m.', 'p m').replace('a.m.', 'a m').replace('x-ray', 'x ray')

/** Prompts with these words could rightly be heard as numbers or dates. */
const NUMERIC = new Set([...fileOf.keys(), ...words('for to too a oh second minute')])
const plainWords = (text: string) => words(text.toLowerCase().replaceAll(/[^a-z' ]/g, ' '))
const dictionary = new Set(
  readFileSync(new URL('model/en-us/dict.txt', import.meta.resolve('soundswallower')), 'utf8')
    .split('\n')
    .map((line) => line.split(' ', 1)[0]),
)
/** Sentences without figures, each once. */
const sentences = [
  ...new Map([...prompts.values()].map((prompt) => [plainWords(prompt.text).join(' '), prompt])),
]
  .filter(([text, prompt]) => !/\d|[*#]/.test(prompt.text) && words(text).length > 1)
  .filter(([text]) => words(text).every((word) => dictionary.has(word)))
  .map(([text, { wav }]) => ({ text, wav }))
const everyNth = <Item>(items: readonly Item[], count: number) =>
  Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)] as Item)

async function measureGrammar(grammar: GrammarName): Promise<void> {
  const expected = { grammar }
  const saying = (text: string, wav: Buffer): Saying => ({ said: asWritten(grammar, text), wav, expected })
  const texts = (count: number) => Array.from({ length: count }, sayings[grammar])
  const bySpeakers = (
    voices: readonly string[],
    count: number,
    say: (text: string, voice: string) => Buffer,
  ) => voices.flatMap((voice) => texts(count).map((text) => saying(text, say(forVoices(text), voice))))
  await measure(
    grammar,
    'flite',
    bySpeakers(fliteVoices, 15, (text, voice) => flite(text, voice).wav),
  )
  await measure(
    grammar,
    'a person',
    texts(60).map((text) => saying(text, human(text))),
  )
  await measure(grammar, 'espeak-ng', bySpeakers(['en-us', 'en-gb'], 10, espeak))
}

async function measurePhrases(): Promise<void> {
  const known = sentences.slice(0, 200)
  const expected = { grammar: 'phrases' as const, phrases: known.map(({ text }) => text) }
  const saying = (text: string, wav: Buffer): Saying => ({ said: words(text), wav, expected })
  const some = everyNth(known, 60)
  const voiceFor = (index: number) => fliteVoices[index % fliteVoices.length] as string
  await measure(
    `phrases, one of ${known.length}`,
    'flite',
    some.map(({ text }, index) => saying(text, flite(text, voiceFor(index)).wav)),
  )
  await measure(
    `phrases, one of ${known.length}`,
    'a person',
    known.map(({ text, wav }) => saying(text, wav)),
  )
  await measure(
    `phrases, one of ${known.length}`,
    'espeak-ng',
    some.slice(0, 20).map(({ text }) => saying(text, espeak(text, 'en-us'))),
  )
}

/** Prints how much other speech of a person is reported as if it had been expected. */
async function measureOtherSpeech(): Promise<void> {
  const others = sentences.filter(
    ({ text }) => words(text).length > 3 && !words(text).some((word) => NUMERIC.has(word)),
  )
  const tried = everyNth(others, 60)
  const isTried = new Set(tried)
  const phrases = sentences
    .filter((sentence) => !isTried.has(sentence))
    .slice(0, 200)
    .map(({ text }) => text)
  const oneOf = (count: number): [string, ExpectedSpeech] => [
    `phrases, one of ${count}`,
    { grammar: 'phrases', phrases: everyNth(phrases, count) },
  ]
  const expectations = (index: number): [string, ExpectedSpeech][] => [
    ...grammars.map((grammar): [string, ExpectedSpeech] => [grammar, { grammar }]),
    oneOf(20),
    oneOf(200),
    ['text', { grammar: 'text', text: (tried[(index + 30) % tried.length] as Prompt).text }],
  ]
  const reported = new Map(expectations(0).map(([what]) => [what, 0]))
  await Promise.all(
    tried.flatMap(({ wav }, index) =>
      expectations(index).map(async ([what, expected]) => {
        const heard = await hear(wav, expected)
        if (heard.words.length > 0 && !heard.uncertain) reported.set(what, reported.get(what)! + 1)
      }),
    ),
  )
  for (const [what, count] of reported) print(`| ${what} | ${count} of ${tried.length} |`)
}

/** The sounds of a word alone: `flite` prints sounds, but not where words begin. */
const soundsOfWord = new Map<string, string[]>()
function soundsOf(word: string): string[] {
  const sounds = soundsOfWord.get(word) ?? spoken(flite(word, 'slt').sounds).map(({ phone }) => phone)
  soundsOfWord.set(word, sounds)
  return sounds
}

const spoken = (sounds: readonly Sound[]) => sounds.filter(({ phone }) => phone !== 'pau')

/** Where each word begins, by its sounds; undefined where they differ from those of the word alone. */
function startsOf(text: readonly string[], sounds: readonly Sound[]): (number | undefined)[] {
  const expected = text.flatMap((word, index) =>
    soundsOf(word).map((phone, at) => ({ phone, first: at === 0 ? index : -1 })),
  )
  const cost = Array.from({ length: expected.length + 1 }, () => new Uint16Array(sounds.length + 1))
  const costAt = (row: number, column: number) => (cost[row] as Uint16Array)[column] as number
  const differs = (row: number, column: number) =>
    Number((expected[row - 1] as Sound | { phone: string }).phone !== (sounds[column - 1] as Sound).phone)
  for (let row = 0; row <= expected.length; row++)
    for (let column = 0; column <= sounds.length; column++)
      (cost[row] as Uint16Array)[column] =
        row === 0 || column === 0
          ? row + column
          : Math.min(
              costAt(row - 1, column - 1) + differs(row, column),
              costAt(row - 1, column) + 1,
              costAt(row, column - 1) + 1,
            )
  const starts = text.map(() => undefined as number | undefined)
  for (let row = expected.length, column = sounds.length; row > 0 && column > 0;) {
    if (costAt(row, column) === costAt(row - 1, column) + 1) row--
    else if (costAt(row, column) === costAt(row, column - 1) + 1) column--
    else {
      const { first } = expected[row - 1] as { first: number }
      if (first >= 0 && !differs(row, column)) starts[first] = (sounds[column - 1] as Sound).start
      row--
      column--
    }
  }
  return starts
}

async function measureAlignment(): Promise<void> {
  const differences: number[] = []
  let whole = 0
  const texts = everyNth(sentences, 100).map(({ text }) => text)
  await Promise.all(
    texts.map(async (text, index) => {
      const { wav, sounds } = flite(text, fliteVoices[index % fliteVoices.length] as string)
      const heard = await hear(wav, { grammar: 'text', text })
      if (heard.words.length === words(text).length) whole++
      for (const [at, start] of startsOf(words(text), spoken(sounds)).entries()) {
        const found = heard.starts[at]
        if (start !== undefined && found !== undefined) differences.push(Math.abs(start - found))
      }
    }),
  )
  const sorted = differences.toSorted((one, other) => one - other)
  const at = (share: number) =>
    `${Math.round(1_000 * (sorted[Math.floor(share * (sorted.length - 1))] as number))} ms`
  const within = percent(sorted.filter((difference) => difference <= 0.05).length, sorted.length)
  print(`| flite | ${whole} of ${texts.length} | ${sorted.length} | ${at(0.5)} | ${at(0.99)} | ${within} |`)
  let heardWhole = 0
  let uncertain = 0
  await Promise.all(
    sentences.map(async ({ text, wav }) => {
      const heard = await hear(wav, { grammar: 'text', text })
      if (heard.words.length === words(text).length) heardWhole++
      if (heard.uncertain) uncertain++
    }),
  )
  print(`| a person | ${heardWhole} of ${sentences.length} (${uncertain} uncertain) | | | | |`)
}

const grammars = ['digits', 'numbers', 'dates', 'codes'] as const
const heads = {
  said: '| expected | voice | words | right words | right recordings | of these uncertain |\n| --- | --- | --- | --- | --- | --- |',
  other: '\n| expected | other speech that is reported as certain |\n| --- | --- |',
  alignment:
    '\n| voice | whole texts | words | start, median | 99th percentile | within 50 ms |\n| --- | --- | --- | --- | --- | --- |',
}
const parts: [string, string, () => Promise<void>][] = [
  ...grammars.map((grammar): (typeof parts)[number] => [grammar, heads.said, () => measureGrammar(grammar)]),
  ['phrases', heads.said, measurePhrases],
  ['other', heads.other, measureOtherSpeech],
  ['alignment', heads.alignment, measureAlignment],
]
const chosen = process.argv.slice(2)
const measured = parts.filter(([part]) => chosen.length === 0 || chosen.includes(part))
for (const [index, [, head, measurePart]] of measured.entries()) {
  if (measured[index - 1]?.[1] !== head) print(head)
  await measurePart()
}
await engine.close()
