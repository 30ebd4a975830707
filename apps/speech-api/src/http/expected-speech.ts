import { grammarNames, type ExpectedSpeech, type GrammarName } from '../engines/speech-engine.ts'
import { ApiError } from './handle-errors.ts'

const fieldNames = ['grammar', 'phrases', 'text'] as const
type FieldName = (typeof fieldNames)[number]

const MAX_PHRASES = 200
const MAX_WORDS = 5_000

/** The fields of a request that say what its recording contains: in the query, or in the form before the recording. */
export interface ExpectedSpeechFields {
  /** @throws {ApiError} 422 if the field comes after the recording, or is too long */
  add(name: string, value: unknown, isTooLong?: boolean): void
  /**
   * Called at the beginning of the recording; undefined without any field.
   *
   * @throws {ApiError} 422 if the fields are invalid
   */
  read(): ExpectedSpeech | undefined
}

export function createExpectedSpeechFields(): ExpectedSpeechFields {
  const fields: [FieldName, string][] = []
  let wasRead = false
  return {
    add(name, value, isTooLong = false) {
      const known = fieldNames.find((each) => each === name)
      if (!known) return
      if (wasRead) throw invalid('field_after_file', `The field "${name}" must come before the field "file".`)
      if (isTooLong) throw tooManyWords(known)
      for (const text of [value].flat()) fields.push([known, String(text)])
    },
    read() {
      wasRead = true
      const [first, ...others] = fields
      if (!first) return undefined
      const [name, value] = first
      if (others.some(([other]) => other !== name || name !== 'phrases')) {
        throw invalid('too_many_fields', 'Send only one of the fields "grammar", "phrases" and "text", once.')
      }
      if (name === 'grammar') return { grammar: grammarNamed(value) }
      if (name === 'text') return { grammar: 'text', text: limited(name, value) }
      const phrases = fields.flatMap(([, lines]) => lines.split(/[\r\n]+/)).filter((line) => line.trim())
      if (phrases.length > MAX_PHRASES) {
        throw invalid(
          'too_many_phrases',
          `The field "phrases" has ${phrases.length} lines. Send at most 200.`,
        )
      }
      limited(name, phrases.join(' '))
      return { grammar: 'phrases', phrases }
    },
  }
}

function grammarNamed(value: string): GrammarName {
  const name = grammarNames.find((each) => each === value.trim())
  if (name) return name
  throw invalid(
    'unknown_grammar',
    `There is no grammar "${value.slice(0, 40)}". Use ${grammarNames.slice(0, -1).join(', ')} or ${grammarNames.at(-1)}.`,
  )
}

function limited(name: FieldName, text: string): string {
  const words = text.match(/\S+/g)?.length ?? 0
  if (words === 0) throw invalid('no_words', `The field "${name}" contains no words.`)
  if (words > MAX_WORDS) throw tooManyWords(name)
  return text
}

function tooManyWords(name: FieldName): ApiError {
  return invalid('too_many_words', `The field "${name}" is too long. Send at most 5,000 words.`)
}

function invalid(code: string, message: string): ApiError {
  return new ApiError(422, code, message)
}
