import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { createRandom } from '@tokenwell/internal-testing/random'
import { createGrammarEngine, type ExpectedSpeech } from '@tokenwell/speech-api'

// Measures the grammar engine and prints the tables of the README: `pnpm measure`. Takes about five minutes, and needs
// the Debian packages espeak-ng, flite, festival, festvox-us-slt-hts and sox. It downloads two more,
// the recordings of two people.

const COUNT = 20
const random = createRandom(20_261_128)
const below = (limit: number) => Math.floor(random() * limit)
const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item
const words = (text: string) => text.split(' ')

// What is said

const DIGITS = words('zero one two three four five six seven eight nine')
const TEENS = words('ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen')
const TENS = words('- - twenty thirty forty fifty sixty seventy eighty ninety')
const LETTERS = words(
  'alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey x-ray yankee zulu',
)

function cardinal(number: number): string {
  for (const [unit, name] of [
    [1_000, 'thousand'],
    [100, 'hundred'],
  ] as const) {
    const rest = number % unit
    if (number >= unit)
      return `${cardinal(Math.floor(number / unit))} ${name}${rest ? ` ${cardinal(rest)}` : ''}`
  }
  if (number >= 20) return `${TENS[Math.floor(number / 10)]}${number % 10 ? ` ${DIGITS[number % 10]}` : ''}`
  return (number < 10 ? DIGITS[number] : TEENS[number - 10]) as string
}

const sayings = {
  digits: () => Array.from({ length: 4 + below(4) }, () => pick(DIGITS)).join(' '),
  numbers: () => cardinal(below(10 ** (2 + below(4)))),
  codes: () => Array.from({ length: 4 + below(4) }, () => pick(below(5) < 3 ? LETTERS : DIGITS)).join(' '),
}

// Who says it

const folder = mkdtempSync(join(tmpdir(), 'voices-'))
const dictionary = createRequire(import.meta.url)
  .resolve('soundswallower')
  .replace(/[^/]+$/, 'model/en-us/dict.txt')
const known = new Set(
  readFileSync(dictionary, 'utf8')
    .split('\n')
    .map((line) => line.split(' ', 1)[0]),
)
const isKnown = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[.,!?]/g, '')
    .split(' ')
    .every((word) => known.has(word))
const sox = (...args: string[]) => execFileSync('sox', ['-q', '-V1', ...args, '-t', 'wav', '-'])

/** Says a text as a WAV file; undefined if this speaker has no recording of it. */
interface Speaker {
  readonly name: string
  say(text: string): Buffer | undefined
  /** Whole sentences, some of 3 words and more. */
  readonly sentences: readonly string[]
}

function unpack(...packages: string[]): void {
  execFileSync('apt-get', ['download', '-q', ...packages], { cwd: folder, stdio: 'ignore' })
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb')))
    execFileSync('dpkg-deb', ['-x', file, '.'], { cwd: folder })
}

/** The prompts of Asterisk: sentences, and single words that are joined with pauses. */
function person1(): Speaker {
  unpack('asterisk-core-sounds-en', 'asterisk-core-sounds-en-wav')
  const sounds = join(folder, 'usr/share/asterisk/sounds/en_US_f_Allison')
  const texts = gunzipSync(
    readFileSync(join(folder, 'usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz')),
  )
  const files = new Map<string, string>()
  for (const [, name, text] of texts.toString().matchAll(/^([^;:\n]+): +([^[(\n]+)$/gm)) {
    const file = join(sounds, `${name}.wav`)
    if (existsSync(file) && isKnown(text!)) files.set(text!.trim(), file)
  }
  const single = new Map([
    ...[...DIGITS, ...TEENS].map((word, number) => [word, `digits/${number}`] as const),
    ...TENS.map((word, tens) => [word, `digits/${tens * 10}`] as const),
    ...LETTERS.map((word) => [word, `phonetic/${word.charAt(0)}_p`] as const),
    ...['hundred', 'thousand'].map((word) => [word, `digits/${word}`] as const),
  ])
  const trim = ['silence', '1', '0.01', '0.2%', 'reverse', 'silence', '1', '0.01', '0.2%', 'reverse']
  return {
    name: 'person 1',
    sentences: [...files.keys()].filter((text) => words(text).length >= 3),
    say(text) {
      const whole = files.get(text)
      if (whole) return readFileSync(whole)
      const parts = words(text).map((word, index) => {
        const part = join(folder, `${index}.wav`)
        writeFileSync(part, sox(join(sounds, `${single.get(word)}.wav`)))
        const trimmed = join(folder, `${index}-trimmed.wav`)
        execFileSync('sox', ['-q', '-V1', part, trimmed, ...trim, 'pad', '0', String(0.05 + 0.1 * random())])
        return trimmed
      })
      const joined = join(folder, 'joined.wav')
      execFileSync('sox', ['-q', '-V1', ...parts, joined, 'pad', '0.2', '0.2'])
      return readFileSync(joined)
    },
  }
}

/** The names of Tux Paint's stamps. */
function person2(): Speaker {
  unpack('tuxpaint-stamps-default')
  const stamps = join(folder, 'usr/share/tuxpaint/stamps')
  const files = new Map<string, string>()
  for (const name of readdirSync(stamps, { recursive: true, encoding: 'utf8' })) {
    const text = name.endsWith('_desc.ogg') && join(stamps, name.replace('_desc.ogg', '.txt'))
    const line = text && existsSync(text) ? readFileSync(text, 'utf8').split('\n')[0]!.trim() : ''
    if (line && isKnown(line)) files.set(line, join(stamps, name))
  }
  return {
    name: 'person 2',
    sentences: [...files.keys()],
    say: (text) =>
      files.has(text) ? sox(files.get(text)!, '-r', '16000', '-c', '1', '-b', '16') : undefined,
  }
}

const people = [person1(), person2()] as const
const { sentences } = people[0]
const flite = (voice: string) => (text: string) => {
  const file = join(folder, 'flite.wav')
  execFileSync('flite', ['-voice', voice, '-t', text, '-o', file])
  return readFileSync(file)
}
const speakers: readonly Speaker[] = [
  ...people,
  {
    name: 'festival, HTS',
    sentences,
    say: (input) =>
      execFileSync('text2wave', ['-eval', '(voice_cmu_us_slt_arctic_hts)'], {
        input,
        stdio: ['pipe', 'pipe', 'ignore'],
      }),
  },
  { name: 'flite, diphones', sentences, say: flite('kal16') },
  {
    name: 'espeak-ng',
    sentences,
    say: (text) => execFileSync('espeak-ng', ['-v', 'en-us', '--stdout', text]),
  },
  { name: 'flite, rms', sentences, say: flite('rms') },
]

// What is heard

const engine = createGrammarEngine()

async function hear(wav: Buffer, expected: ExpectedSpeech): Promise<string> {
  const file = join(folder, 'heard.wav')
  writeFileSync(file, wav)
  const { signal } = new AbortController()
  const { segments } = await engine.transcribe(file, { expected, signal, onProgress: () => {} })
  return segments.map(({ text }) => text).join(' ')
}

const written = new Map([
  ...DIGITS.map((word, digit) => [word, String(digit)] as const),
  ...LETTERS.map((word) => [word, word.charAt(0).toUpperCase()] as const),
])
const others = (own: string, all: readonly string[], count: number) => {
  const list = new Set<string>()
  while (list.size < count) {
    const other = pick(all)
    if (other !== own) list.add(other)
  }
  return [...list]
}

/** For each kind: what is said, what is expected, and what should be returned. */
const kinds: Record<string, (speaker: Speaker) => { said: string; expected: ExpectedSpeech; text: string }> =
  {
    digits() {
      const said = sayings.digits()
      return {
        said,
        expected: { expected: 'digits' },
        text: words(said)
          .map((word) => written.get(word))
          .join(' '),
      }
    },
    numbers() {
      const said = sayings.numbers()
      return { said, expected: { expected: 'numbers' }, text: said }
    },
    codes() {
      const said = sayings.codes()
      return {
        said,
        expected: { expected: 'codes' },
        text: words(said)
          .map((word) => written.get(word))
          .join(' '),
      }
    },
    'phrases, one of 20'({ sentences }) {
      const said = pick(sentences)
      return {
        said,
        expected: { expected: 'phrases', phrases: [...others(said, sentences, 19), said] },
        text: said,
      }
    },
    text({ sentences }) {
      const said = pick(sentences)
      return { said, expected: { expected: 'text', text: said }, text: said }
    },
  }

/** What else may be expected while a sentence is said. */
const wrong: Record<string, (said: string, sentences: readonly string[]) => ExpectedSpeech> = {
  digits: () => ({ expected: 'digits' }),
  numbers: () => ({ expected: 'numbers' }),
  codes: () => ({ expected: 'codes' }),
  'phrases, one of 20': (said, all) => ({ expected: 'phrases', phrases: others(said, all, 20) }),
  text: (said, all) => ({ expected: 'text', text: others(said, all, 1)[0]! }),
}

const print = (...cells: (string | number)[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`)
const names = Object.keys(kinds)
const table = async (title: string, cell: (speaker: Speaker, kind: string) => Promise<string>) => {
  process.stdout.write(`\n`)
  print(title, ...names)
  print('---', ...names.map(() => '---'))
  for (const speaker of speakers) {
    const cells = []
    for (const kind of names) cells.push(await cell(speaker, kind))
    print(speaker.name, ...cells)
  }
}

await table(`right, of ${COUNT}`, async (speaker, kind) => {
  let right = 0
  for (let count = 0; count < COUNT; count++) {
    const { said, expected, text } = kinds[kind]!(speaker)
    const wav = speaker === people[1] && !speaker.sentences.includes(said) ? undefined : speaker.say(said)
    if (!wav) return ''
    if ((await hear(wav, expected)) === text) right++
  }
  return String(right)
})
await table(`words heard that nobody said, in so many of ${COUNT}`, async (speaker, kind) => {
  let heard = 0
  for (let count = 0; count < COUNT; count++) {
    const said = pick(speaker.sentences)
    if (await hear(speaker.say(said)!, wrong[kind]!(said, speaker.sentences))) heard++
  }
  return String(heard)
})
await engine.close()
rmSync(folder, { recursive: true })
