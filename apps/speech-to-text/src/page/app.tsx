import { useState } from 'preact/hooks'
import sampleList from '../../samples/samples.json' with { type: 'json' }
import type { Fields } from './expected-speech.tsx'
import icon from './icon.svg?no-inline'
import { RecordButton } from './record-button.tsx'
import { Recording } from './recording.tsx'
import { toWav } from './to-wav.ts'
import { type Route, type Routes, TokenPanel } from './token-panel.tsx'

interface Added {
  readonly id: number
  readonly name: string
  readonly wav: Blob
  /** What is expected; undefined until the user says so. */
  readonly fields?: Fields
}

const MAX_BYTES = 25 * 1024 * 1024

export function App({ routes, trials }: { routes: Routes; trials: boolean }) {
  const [recordings, setRecordings] = useState<readonly Added[]>([])
  const [errors, setErrors] = useState<readonly string[]>([])
  const [lastFields, setLastFields] = useState<Fields>()
  const [route, setRoute] = useState<Route>('server')

  const add = (name: string, wav: Blob, fields = lastFields): void =>
    setRecordings((before) => [{ id: (before[0]?.id ?? 0) + 1, name, wav, fields }, ...before])
  const addFiles = async (files: readonly File[]): Promise<void> => {
    setErrors([])
    for (const file of files) {
      try {
        const wav = await toWav(file)
        if (wav.size > MAX_BYTES)
          throw new Error(`${file.name} is too large: the speech API accepts up to 25 MiB.`)
        add(file.name, wav)
      } catch (error) {
        setErrors((before) => [...before, (error as Error).message])
      }
    }
  }

  return (
    <>
      <header>
        <img src={icon} alt="" width="32" height="32" />
        <h1>Speech to text</h1>
        <p class="subtitle">
          Say digits, numbers, codes or given sentences, or read a text aloud. The speech API hears only what
          is expected.
        </p>
      </header>
      <main>
        <div class="recordings">
          <section class="card add" aria-label="Add recordings">
            <RecordButton
              onRecording={(file) => void addFiles([file])}
              onError={(message) => setErrors([message])}
            />
            <label class="drop">
              <span>or drop files here: WAV up to 25 MiB, or any audio that this browser can play</span>
              <input
                type="file"
                accept="audio/*"
                multiple
                onChange={({ currentTarget }) => {
                  const files = [...(currentTarget.files ?? [])]
                  currentTarget.value = '' // so that the same file can be chosen again
                  void addFiles(files)
                }}
              />
            </label>
            <Samples onSample={add} onError={(message) => setErrors([message])} />
            {errors.length > 0 && (
              <div role="alert" class="error">
                {errors.map((message) => (
                  <p key={message}>{message}</p>
                ))}
              </div>
            )}
          </section>
          {recordings.map(({ id, name, wav, fields }) => (
            <Recording
              key={id}
              name={name}
              wav={wav}
              fields={fields}
              api={routes[route].api}
              onExpected={setLastFields}
              onRemove={() => setRecordings((before) => before.filter((each) => each.id !== id))}
            />
          ))}
        </div>
        <TokenPanel
          route={route}
          onRoute={setRoute}
          tokens={routes.direct.tokens}
          api={routes.direct.api}
          trials={trials}
        />
      </main>
    </>
  )
}

const urls = import.meta.glob<string>('../../samples/*.wav', {
  query: '?url',
  import: 'default',
  eager: true,
})

interface SamplesProps {
  readonly onSample: (name: string, wav: Blob, fields: Fields) => void
  readonly onError: (message: string) => void
}

/** Recordings to start with. */
function Samples({ onSample, onError }: SamplesProps) {
  const load = async (file: string, fields: Fields): Promise<void> => {
    const response = await fetch(urls[`../../samples/${file}`]!).catch(() => undefined)
    if (!response?.ok) return onError(`${file} could not be loaded.`)
    onSample(file, await response.blob(), fields)
  }
  return (
    <div class="samples" role="group" aria-label="Samples">
      <span>Or try a sample:</span>
      {sampleList.map(({ file, fields }) => (
        <button key={file} type="button" class="link" onClick={() => void load(file, fields)}>
          {file.replace('.wav', '').replaceAll('-', ' ')}
        </button>
      ))}
    </div>
  )
}
