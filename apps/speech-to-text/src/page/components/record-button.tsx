import { useEffect, useRef, useState } from 'preact/hooks'
import {
  recordMicrophone,
  type MicrophoneRecording,
  type RecordingStatus,
} from '../audio/record-microphone.ts'

interface RecordButtonProps {
  readonly onRecording: (wav: Blob) => void
  readonly onError: (message: string) => void
}

const notStarted: RecordingStatus = { seconds: 0, level: 0 }

/** Starts a recording, and stops it when pressed again. */
export function RecordButton({ onRecording, onError }: RecordButtonProps) {
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
        class={`record ${state}`}
        // A disabled button would lose the keyboard focus.
        aria-disabled={state === 'busy'}
        onClick={() => void toggle()}
      >
        <span class="indicator" aria-hidden="true" />
        {recordingNow ? 'Stop recording' : 'Record'}
        {recordingNow && (
          <span class="elapsed" aria-hidden="true">
            {' '}
            {Math.floor(status.seconds)} s
          </span>
        )}
      </button>
      {recordingNow && <meter class="level" aria-label="Input level" value={status.level} />}
    </>
  )
}
