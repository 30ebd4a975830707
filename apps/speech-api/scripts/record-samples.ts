import { mkdir, writeFile } from 'node:fs/promises'
import type { ExpectedSpeech } from '@tokenwell/speech-api'
import { flite } from './voices.ts'

// Records the samples of the example application, and writes down what is said in them.

interface Sample {
  readonly file: string
  readonly voice: string
  readonly said: string
  readonly expected: ExpectedSpeech
  readonly text: string
}

const announcement =
  'Welcome to the city library. On weekdays we are open from nine in the morning until eight in the evening. ' +
  'Please return your books at the desk near the entrance. Thank you for your visit.'

const SAMPLES: readonly Sample[] = [
  {
    file: 'order-number.wav',
    voice: 'rms',
    said: 'four two seven one nine zero',
    expected: { grammar: 'digits' },
    text: '4 2 7 1 9 0',
  },
  {
    file: 'meter-reading.wav',
    voice: 'slt',
    said: 'nineteen thousand five hundred and thirty eight',
    expected: { grammar: 'numbers' },
    text: 'nineteen thousand five hundred and thirty eight',
  },
  {
    file: 'appointment.wav',
    voice: 'rms',
    said: 'monday the third of march at half past ten',
    expected: { grammar: 'dates' },
    text: 'monday the third of march at half past ten',
  },
  {
    file: 'parcel-code.wav',
    voice: 'awb',
    said: 'kilo seven x ray four bravo two',
    expected: { grammar: 'codes' },
    text: 'K 7 X 4 B 2',
  },
  {
    file: 'command.wav',
    voice: 'slt',
    said: 'turn on the lights in the kitchen',
    expected: {
      grammar: 'phrases',
      phrases: [
        'Turn on the lights in the kitchen.',
        'Turn off the lights in the kitchen.',
        'Turn on the heating in the bathroom.',
        'Close the shutters.',
        'Play some music.',
      ],
    },
    text: 'Turn on the lights in the kitchen.',
  },
  {
    file: 'announcement.wav',
    voice: 'rms',
    said: announcement,
    expected: { grammar: 'text', text: announcement },
    text: announcement,
  },
]
const FOLDER = new URL('../../speech-to-text/samples/', import.meta.url)

await mkdir(FOLDER, { recursive: true })
for (const { file, voice, said } of SAMPLES) await writeFile(new URL(file, FOLDER), flite(said, voice).wav)
const samples = SAMPLES.map(({ file, expected, text }) => ({ file, expected, text }))
await writeFile(new URL('samples.json', FOLDER), `${JSON.stringify(samples, null, 2)}\n`)
