import { useEffect, useRef, useState } from 'preact/hooks'
import type RecordPlugin from 'wavesurfer.js/plugins/record'

interface RecordButtonProps {
  readonly onRecording: (file: File) => void
  readonly onError: (message: string) => void
}

/** Starts a recording, draws it, and stops it when pressed again. */
export function RecordButton({ onRecording, onError }: RecordButtonProps) {
  const [state, setState] = useState<'idle' | 'busy' | 'recording'>('idle')
  const [seconds, setSeconds] = useState(0)
  const container = useRef<HTMLDivElement>(null)
  const recorder = useRef<RecordPlugin>(undefined)
  // Stops the recording when the button is removed.
  useEffect(() => () => recorder.current?.destroy(), [])

  const start = async (): Promise<void> => {
    // The error of the browser has a name, that of the plugin has none.
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
    for (const track of stream.getTracks()) track.stop()
    const [{ default: Surfer }, { default: Record }] = await Promise.all([
      import('wavesurfer.js'),
      import('wavesurfer.js/plugins/record'),
    ])
    const record = Record.create({ scrollingWaveform: true })
    const surfer = Surfer.create({
      container: container.current!,
      height: 48,
      barWidth: 2,
      plugins: [record],
    })
    recorder.current = record
    record.on('record-progress', (milliseconds) => setSeconds(Math.floor(milliseconds / 1_000)))
    record.on('record-end', (blob) => {
      const name = `Recording at ${new Date().toLocaleTimeString([], { timeStyle: 'medium' })}`
      surfer.destroy()
      recorder.current = undefined
      setState('idle')
      setSeconds(0)
      onRecording(new File([blob], name, { type: blob.type }))
    })
    await record.startRecording({ channelCount: 1 })
    setState('recording')
  }
  const toggle = async (): Promise<void> => {
    if (state === 'busy') return
    setState('busy')
    if (state === 'recording') return recorder.current?.stopRecording()
    try {
      await start()
    } catch (error) {
      recorder.current?.destroy()
      setState('idle')
      onError(
        messages[(error as Error).name] ??
          'The microphone is not available. Another program may be using it.',
      )
    }
  }

  const isRecording = state === 'recording'
  return (
    <>
      {/* A disabled button would lose the keyboard focus. */}
      <button
        type="button"
        class={`record ${state}`}
        aria-disabled={state === 'busy'}
        onClick={() => void toggle()}
      >
        <span class="indicator" aria-hidden="true" />
        {isRecording ? 'Stop recording' : 'Record'}
        {isRecording && <span aria-hidden="true">{seconds} s</span>}
      </button>
      <div class="live" ref={container} aria-hidden="true" hidden={!isRecording} />
    </>
  )
}

const messages: Record<string, string> = {
  NotAllowedError: 'The microphone is blocked. Allow it in the browser’s settings.',
  NotFoundError: 'No microphone was found.',
}
