import { useEffect, useRef, useState } from 'preact/hooks'
import { recordMicrophone, type MicrophoneRecording, type Sound } from '../audio/record-microphone.ts'

interface RecordButtonProps {
  readonly onRecording: (wav: Blob) => void
  readonly onProblem: (sentence: string) => void
}

const silence: Sound = { seconds: 0, level: 0 }

/** Press to record, press again to stop. */
export function RecordButton({ onRecording, onProblem }: RecordButtonProps) {
  const [state, setState] = useState<'idle' | 'busy' | 'recording'>('idle')
  const [sound, setSound] = useState<Sound>(silence)
  const recording = useRef<MicrophoneRecording | undefined>(undefined)

  // Nobody is left to press the button again.
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
        setSound(silence)
      } else {
        recording.current = await recordMicrophone(setSound)
        setState('recording')
      }
    } catch (error) {
      setState('idle')
      onProblem((error as Error).message)
    }
  }

  return (
    <button
      type="button"
      class={`record ${state}`}
      // Not disabled, which would take the keyboard's focus away.
      aria-disabled={state === 'busy'}
      onClick={() => void toggle()}
    >
      <span
        class="lamp"
        style={{ opacity: state === 'recording' ? 0.4 + sound.level * 0.6 : 1 }}
        aria-hidden="true"
      />
      {state === 'recording' ? 'Stop recording' : 'Record'}
      {state === 'recording' && (
        <span class="elapsed" aria-hidden="true">
          {' '}
          {Math.floor(sound.seconds)} s
        </span>
      )}
    </button>
  )
}
