import { useState } from 'preact/hooks'

/** What the form says that is spoken, as the speech API takes it. */
export type Fields = { readonly expected: string; readonly phrases?: string; readonly text?: string }

const kinds: Record<string, { readonly name: string; readonly hint: string }> = {
  digits: { name: 'Digits', hint: '“four two seven”: zero to nine.' },
  numbers: { name: 'Numbers', hint: '“two hundred and six”, “minus twelve point five”.' },
  codes: { name: 'Letters and digits', hint: '“kilo seven x-ray”: the words alpha to zulu become letters.' },
  phrases: { name: 'One of these sentences', hint: 'One sentence in each line, at most 200.' },
  text: { name: 'This text', hint: 'Each word gets its time. Write numbers as words.' },
  speech: {
    name: 'Anything',
    hint: "This needs a speech API that was started with a program for free speech, such as SPEECH_ENGINE='whisper-cli -m model.bin -f {file}'.",
  },
}

export interface ExpectedSpeechProps {
  readonly id: string
  readonly fields?: Fields
  readonly onSubmit: (fields: Fields) => void
}

/** Asks what is spoken in a recording. Sentences and texts need a confirmation, the others none. */
export function ExpectedSpeech({ id, fields, onSubmit }: ExpectedSpeechProps) {
  const [kind, setKind] = useState(fields?.expected ?? '')
  const [text, setText] = useState(fields?.text ?? fields?.phrases ?? '')
  const isWritten = kind === 'phrases' || kind === 'text'
  return (
    <form
      class="expected"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit({ expected: kind, [kind]: text })
      }}
    >
      <label for={id}>What is spoken?</label>
      <select
        id={id}
        value={kind}
        aria-describedby={`${id}-hint`}
        onChange={({ currentTarget: { value } }) => {
          setKind(value)
          if (value !== 'phrases' && value !== 'text') onSubmit({ expected: value })
        }}
      >
        {!kind && <option value="">Choose</option>}
        {Object.entries(kinds).map(([value, { name }]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      {isWritten && (
        <>
          <textarea
            aria-label={kinds[kind]!.name}
            required
            rows={4}
            maxLength={40_000}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          <button type="submit">Transcribe</button>
        </>
      )}
      <p id={`${id}-hint`} class="hint">
        {kinds[kind]?.hint}
      </p>
    </form>
  )
}
