import { useRef, useState } from 'preact/hooks'
import { toWav } from '../audio/to-wav.ts'
import type { History } from '../history/history.ts'
import { RecordButton } from './record-button.tsx'

const maxBytes = 25 * 1024 * 1024

/** Where recordings come in: dropped, chosen, or from the microphone. */
export function AddRecordings({ history }: { history: History }) {
  const [problems, setProblems] = useState<readonly string[]>([])
  const [dragging, setDragging] = useState(false)
  const picker = useRef<HTMLInputElement>(null)

  const add = async (files: readonly File[]): Promise<void> => {
    setProblems([])
    for (const file of files) {
      try {
        history.add(file.name, await prepare(file))
      } catch (error) {
        setProblems((before) => [...before, (error as Error).message])
      }
    }
  }

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
        void add([...(event.dataTransfer?.files ?? [])])
      }}
    >
      <p>Drop recordings here, or</p>
      <div class="buttons">
        <button type="button" onClick={() => picker.current?.click()}>
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
            // Choosing the same file again is a change, too.
            currentTarget.value = ''
            void add(files)
          }}
        />
        <RecordButton
          onRecording={(wav) => {
            setProblems([])
            history.add(nameOfRecording(), wav)
          }}
          onProblem={(problem) => setProblems([problem])}
        />
      </div>
      {problems.length > 0 && (
        <div role="alert" class="problem">
          {problems.map((problem) => (
            <p key={problem}>{problem}</p>
          ))}
        </div>
      )}
    </section>
  )
}

async function prepare(file: File): Promise<Blob> {
  if (file.size === 0) throw new Error(`${file.name} is empty.`)
  const wav = await toWav(file)
  if (wav.size > maxBytes) throw new Error(`${file.name} is too large: the speech API takes 25 MB at most.`)
  return wav
}

function nameOfRecording(): string {
  return `Recording at ${new Date().toLocaleTimeString([], { timeStyle: 'medium' })}`
}
