import { effect, signal, type Signal } from '@preact/signals'
import * as z from 'zod/mini'
import { type Expected, grammarNames } from '../../speech/speech-api-response.ts'

type Kind = Expected['grammar']

const kinds: Record<Kind, { readonly name: string; readonly hint: string }> = {
  digits: { name: 'Digits', hint: '“four two seven”: zero to nine.' },
  numbers: { name: 'Numbers', hint: '“two hundred and six”, “minus twelve point five”.' },
  dates: { name: 'Dates, times, amounts', hint: '“the third of March at half past ten”, “five dollars”.' },
  codes: { name: 'Letters and digits', hint: '“kilo seven x-ray”: the words Alpha to Zulu become letters.' },
  phrases: { name: 'One of these sentences', hint: 'One sentence per line, at most 200.' },
  text: { name: 'This text', hint: 'Each word gets its time. Write numbers as words.' },
}

/** What is expected, in a few words. */
export function nameOf(expected: Expected): string {
  if (expected.grammar !== 'phrases')
    return expected.grammar === 'text' ? 'A given text' : kinds[expected.grammar].name
  return `One of ${expected.phrases.length} sentences`
}

/** The user's choice, with what was written for the others. */
export interface ExpectedChoice {
  readonly kind: Kind
  readonly phrases: string
  readonly text: string
}

const choiceSchema = z.object({
  kind: z.enum([...grammarNames, 'phrases', 'text']),
  phrases: z.string(),
  text: z.string(),
})

/** The user's choice, stored by the browser. */
export function chooseExpected(): Signal<ExpectedChoice> {
  const choice = signal(readChoice())
  effect(() => localStorage.setItem('expected', JSON.stringify(choice.value)))
  return choice
}

function readChoice(): ExpectedChoice {
  try {
    return choiceSchema.parse(JSON.parse(localStorage.getItem('expected') ?? ''))
  } catch {
    return { kind: 'digits', phrases: '', text: '' }
  }
}

/** @throws {Error} with a message for the user */
export function expectedIn({ kind, phrases, text }: ExpectedChoice): Expected {
  if (kind === 'text') {
    if (!text.trim()) throw new Error('Write the text that is spoken first.')
    return { grammar: kind, text }
  }
  if (kind !== 'phrases') return { grammar: kind }
  const lines = phrases.split('\n').filter((line) => line.trim())
  if (lines.length === 0) throw new Error('Write the sentences that may be spoken first.')
  return { grammar: kind, phrases: lines }
}

/** Asks what is spoken in the recordings that are added. */
export function ExpectedSpeech({ choice }: { choice: Signal<ExpectedChoice> }) {
  const { kind } = choice.value
  const change = (part: Partial<ExpectedChoice>) => (choice.value = { ...choice.value, ...part })
  return (
    <div class="expected">
      <label for="expected">What is spoken</label>
      <select
        id="expected"
        aria-describedby="expected-hint"
        value={kind}
        onChange={({ currentTarget }) => change({ kind: currentTarget.value as Kind })}
      >
        {Object.entries(kinds).map(([value, { name }]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      {(kind === 'phrases' || kind === 'text') && (
        <textarea
          aria-label={kinds[kind].name}
          aria-describedby="expected-hint"
          rows={4}
          maxLength={40_000}
          value={choice.value[kind]}
          onInput={({ currentTarget }) => change({ [kind]: currentTarget.value })}
        />
      )}
      <p id="expected-hint" class="hint">
        {kinds[kind].hint}
      </p>
    </div>
  )
}
