import { z } from 'zod'
import { ApiError } from '../api-error.ts'
import type { ExpectedSpeech, SpeechEngine } from '../engines/speech-engine.ts'

// The schemas that check requests and describe them and their responses in `/openapi.json`.

const MAX_PHRASES = 200
const MAX_WORDS = 5_000

const words = z.string().refine(
  (text) => {
    const count = text.match(/\S+/g)?.length ?? 0
    return count > 0 && count <= MAX_WORDS
  },
  `must contain 1 to ${MAX_WORDS.toLocaleString('en')} words`,
)

const descriptions: Readonly<Record<ExpectedSpeech['expected'], string>> = {
  digits: '`digits`: the words zero to nine',
  numbers: '`numbers`: numbers in words, up to 999,999,999',
  codes: '`codes`: digits, and the words alpha to zulu, which become letters',
  phrases: '`phrases`: one of the sentences in the field `phrases`',
  text: '`text`: the text in the field `text`, whose words get their times',
  speech: '`speech`: free speech',
}

/** The file of a form. A class, as the text of a field could name any file of this machine. */
export class StoredRecording {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }
}

/** The fields of the form that transcribes a recording, for an engine. */
export function formSchema({ recognises }: Pick<SpeechEngine, 'recognises'>) {
  const list = `${recognises.slice(0, -1).join(', ')}${recognises.length > 1 ? ' or ' : ''}${recognises.at(-1)}`
  return z
    .strictObject(
      {
        expected: z
          .enum(recognises, `must be ${list}${recognises.includes('speech') ? '' : `. ${freeSpeech}`}`)
          .describe(`What is spoken: ${recognises.map((each) => descriptions[each]).join('; ')}.`)
          .meta({ examples: [recognises[0]] }),
        phrases: words
          .refine(
            (text) => text.trim().split(/[\r\n]+/).length <= MAX_PHRASES,
            `has more than ${MAX_PHRASES} lines`,
          )
          .optional()
          .describe(`With \`phrases\`: one sentence in each line, at most ${MAX_PHRASES}.`),
        text: words.optional().describe(`With \`text\`: at most ${MAX_WORDS.toLocaleString('en')} words.`),
        file: z
          .instanceof(StoredRecording, { error: 'is missing. Send a WAV file' })
          .meta({ type: 'string', format: 'binary', description: 'A WAV file of at most 25 MiB.' }),
      },
      {
        error: (issue) =>
          issue.code === 'unrecognized_keys' ? `There is no field "${issue.keys.join('", "')}".` : undefined,
      },
    )
    .superRefine(({ expected, phrases, text }, context) => {
      for (const [name, value] of Object.entries({ phrases, text })) {
        if (expected === name && value === undefined)
          context.addIssue({ code: 'custom', path: [name], message: `is missing. \`${name}\` needs it` })
        if (expected !== name && value !== undefined)
          context.addIssue({ code: 'custom', path: [name], message: `belongs to \`${name}\` alone` })
      }
    })
}

const freeSpeech = 'For free speech, the operator of this server has to set SPEECH_ENGINE'

/** @throws {ApiError} 400 that names the first field which is invalid */
export function readForm(schema: ReturnType<typeof formSchema>, form: unknown): ExpectedSpeech {
  const { data, error } = schema.safeParse(form)
  if (!data) {
    const { path, message } = error.issues[0]!
    const sentence = path.length > 0 ? `The field "${path.join('.')}" ${message}.` : message
    throw new ApiError(400, 'invalid_field', sentence)
  }
  const { expected, text = '', phrases = '' } = data
  if (expected === 'text') return { expected, text }
  if (expected !== 'phrases') return { expected }
  return { expected, phrases: phrases.split(/[\r\n]+/).filter((line) => line.trim()) }
}

const segmentSchema = z.object({
  start: z.number().describe('Seconds from the start of the recording.'),
  end: z.number(),
  text: z.string(),
  score: z
    .number()
    .optional()
    .describe(
      'The recogniser’s own score, from 0 to 1. It does not distinguish right words from wrong ones.',
    ),
})

export const errorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string() }),
})

/** A recording that is being transcribed, or has been. */
export const transcriptionSchema = z.object({
  id: z.string(),
  state: z.enum(['running', 'done', 'failed']),
  expected: z.string(),
  progress: z.number().optional().describe('From 0 to 1, if `state` is `running`.'),
  text: z.string().optional().describe('If `state` is `done`, as are the next three.'),
  durationSeconds: z.number().optional(),
  segments: z.array(segmentSchema).readonly().optional(),
  warnings: z
    .array(z.object({ code: z.string(), message: z.string() }))
    .readonly()
    .optional(),
  error: errorSchema.shape.error
    .extend({ status: z.number().int() })
    .optional()
    .describe('If `state` is `failed`: what the response to a short recording would have been.'),
})
export type TranscriptionResponse = z.infer<typeof transcriptionSchema>
