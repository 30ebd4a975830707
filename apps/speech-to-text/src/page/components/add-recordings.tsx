import { useEffect, useRef, useState } from 'preact/hooks'
import type { Signal } from '@preact/signals'
import sampleList from '../../../samples/samples.json' with { type: 'json' }
import { samplesSchema, type Sample } from '../../speech/sample.ts'
import type { Expected } from '../../speech/speech-api-response.ts'
import {
  recordMicrophone,
  type MicrophoneRecording,
  type RecordingStatus,
} from '../audio/record-microphone.ts'
import { toWav } from '../audio/to-wav.ts'
import type { History } from '../history/history.ts'
import { type ExpectedChoice, ExpectedSpeech, expectedIn } from './expected-speech.tsx'

interface RecordButtonProps {
  readonly onRecording: (wav: Blob) => void
  readonly onError: (message: string) => void
}

const notStarted: RecordingStatus = { seconds: 0, level: 0 }

/** Starts a recording, and stops it when pressed again. */
function RecordButton({ onRecording, onError }: RecordButtonProps) {
  const [state, setState] = useState<'idle' | 'busy' | 'recording'>('idle')
  const [status, setStatus] = useState(notStarted)
  const recording = useRef<MicrophoneRecording | undefined>(undefined)

  // Stops the recording when the button is removed.
  useEffect(() => () => void recording.current?.stop(), [])

  const toggle = async (): Promise<void> => {
    if (state === 'busy') return
    const running = recording.current
    recording.current = undefined
    setState('busy')
    try {
      if (running) {
        onRecording(await running.stop())
        setState('idle')
        setStatus(notStarted)
      } else {
        recording.current = await recordMicrophone(setStatus)
        setState('recording')
      }
    } catch (error) {
      setState('idle')
      onError((error as Error).message)
    }
  }

  const recordingNow = state === 'recording'
  return (
    <>
      <button
        type="button"
        class={`outline record ${state}`}
        // A disabled button would lose the keyboard focus.
        aria-disabled={state === 'busy'}
        onClick={() => void toggle()}
      >
        <span class="indicator" aria-hidden="true" />
        {recordingNow ? 'Stop recording' : 'Record'}
        {recordingNow && (
          <span class="elapsed" aria-hidden="true">
            {Math.floor(status.seconds)} s
          </span>
        )}
      </button>
      {recordingNow && <meter class="level" aria-label="Input level" value={status.level} />}
    </>
  )
}

const maxBytes = 25 * 1024 * 1024

export interface AddRecordingsProps {
  readonly history: History
  readonly choice: Signal<ExpectedChoice>
}

/** Adds recordings: dropped, chosen, from the microphone, or samples. */
export function AddRecordings({ history, choice }: AddRecordingsProps) {
  const [errors, setErrors] = useState<readonly string[]>([])
  const [dragging, setDragging] = useState(false)
  const picker = useRef<HTMLInputElement>(null)

  const addFiles = async (files: readonly File[]): Promise<void> => {
    setErrors([])
    const expected = readChoice()
    for (const file of expected ? files : []) {
      try {
        history.add(file.name, await prepare(file), expected!)
      } catch (error) {
        setErrors((before) => [...before, (error as Error).message])
      }
    }
  }
  const add = (name: string, wav: Blob, expected = readChoice()): void => {
    if (!expected) return
    setErrors([])
    history.add(name, wav, expected)
  }
  const readChoice = (): Expected | undefined => {
    try {
      return expectedIn(choice.value)
    } catch (error) {
      showError((error as Error).message)
      return undefined
    }
  }
  const showError = (message: string): void => setErrors([message])

  return (
    <section
      class={`card add ${dragging ? 'dragging' : ''}`}
      aria-label="Add recordings"
      onDragOver={(event) => {
        event.preventDefault()
        setDragging(true)
      }}
      onDragLeave={() => setDragging(false)}
      onDrop={(event) => {
        event.preventDefault()
        setDragging(false)
        void addFiles([...(event.dataTransfer?.files ?? [])])
      }}
    >
      <ExpectedSpeech choice={choice} />
      <p>Drop recordings here, or</p>
      <div class="buttons">
        <button type="button" aria-describedby="limits" onClick={() => picker.current?.click()}>
          Choose files
        </button>
        <input
          ref={picker}
          type="file"
          accept="audio/*"
          multiple
          hidden
          aria-label="Recordings"
          onChange={({ currentTarget }) => {
            const files = [...(currentTarget.files ?? [])]
            // Reset, so that choosing the same file again triggers a change event.
            currentTarget.value = ''
            void addFiles(files)
          }}
        />
        <RecordButton onRecording={(wav) => add(nameOfRecording(), wav)} onError={showError} />
      </div>
      <Samples onSample={add} onError={showError} />
      <p id="limits" class="limits">
        WAV up to 25 MiB, or any audio that this browser can play, up to 13 minutes.
      </p>
      {errors.length > 0 && (
        <div role="alert" class="error">
          {errors.map((message) => (
            <p key={message}>{message}</p>
          ))}
        </div>
      )}
    </section>
  )
}

async function prepare(file: File): Promise<Blob> {
  if (file.size === 0) throw new Error(`${file.name} is empty.`)
  const wav = await toWav(file)
  if (wav.size > maxBytes) throw new Error(`${file.name} is too large. The speech API accepts up to 25 MiB.`)
  return wav
}

function nameOfRecording(): string {
  return `Recording at ${new Date().toLocaleTimeString([], { timeStyle: 'medium' })}`
}

const samples = samplesSchema.parse(sampleList)
const urls = import.meta.glob<string>('../../../samples/*.wav', {
  query: '?url',
  import: 'default',
  eager: true,
})

/** `order-number.wav` is called _Order number_. */
function labelOf({ file }: Sample): string {
  return file.charAt(0).toUpperCase() + file.slice(1).replace('.wav', '').replaceAll('-', ' ')
}

interface SamplesProps {
  readonly onSample: (name: string, wav: Blob, expected: Expected) => void
  readonly onError: (message: string) => void
}

/** Recordings to start with. */
function Samples({ onSample, onError }: SamplesProps) {
  const load = async ({ file, expected }: Sample): Promise<void> => {
    const response = await fetch(urls[`../../../samples/${file}`]!).catch(() => undefined)
    if (!response?.ok) return onError(`${file} could not be loaded.`)
    onSample(file, await response.blob(), expected)
  }
  return (
    <div class="samples" role="group" aria-label="Samples">
      <span>Or try a sample:</span>
      {samples.map((sample) => (
        <button key={sample.file} type="button" class="link" onClick={() => void load(sample)}>
          {labelOf(sample)}
        </button>
      ))}
    </div>
  )
}
