import type { AxiosInstance } from 'axios'
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { isAxiosError } from 'axios'
import { messageOf, transcribe, type Transcription } from '../axios/speech.ts'
import { ExpectedSpeech, type Fields } from './expected-speech.tsx'
import { type TimedWord, useWaveform } from './use-waveform.ts'

type Progress =
  | { readonly state: 'uploading' | 'transcribing'; readonly part: number }
  | { readonly state: 'done'; readonly transcript: Transcription }
  | { readonly state: 'failed'; readonly message: string; readonly isTemporary: boolean }

export interface RecordingProps {
  readonly name: string
  readonly wav: Blob
  /** What is expected; undefined until the user says so. */
  readonly fields?: Fields
  /** The speech API itself, or the server of the page. */
  readonly api: AxiosInstance
  readonly onExpected: (fields: Fields) => void
  readonly onRemove: () => void
}

/** One recording: its waveform, what is expected in it, and its words. */
export function Recording({ name, wav, fields: given, api, onExpected, onRemove }: RecordingProps) {
  const id = useId()
  const [fields, setFields] = useState(given)
  const [progress, setProgress] = useState<Progress>()
  const abort = useRef<AbortController>(undefined)

  const start = async (expected: Fields): Promise<void> => {
    abort.current?.abort()
    const { signal } = (abort.current = new AbortController())
    const show = (next: Progress | undefined) => void (signal.aborted || setProgress(next))
    show({ state: 'uploading', part: 0 })
    try {
      const onProgress = (state: 'uploading' | 'transcribing', part: number) =>
        show({ state: part < 1 ? state : 'transcribing', part: part < 1 ? part : 0 })
      show({ state: 'done', transcript: await transcribe(api, wav, { ...expected }, { signal, onProgress }) })
    } catch (error) {
      const status = isAxiosError(error) ? error.status : (error as { status?: number }).status
      show({
        state: 'failed',
        message: messageOf(error),
        isTemporary: !(status && status < 500 && status !== 429),
      })
    }
  }
  useEffect(() => {
    if (fields) void start(fields)
  }, [fields])
  useEffect(() => () => abort.current?.abort(), [])

  const cancel = (): void => {
    abort.current?.abort()
    setProgress({ state: 'failed', message: 'Cancelled.', isTemporary: true })
  }
  const transcript = progress?.state === 'done' ? progress.transcript : undefined
  const words = useMemo(() => transcript?.segments?.flatMap(timedWords), [transcript])
  const { container, surfer, playing, current } = useWaveform(wav, words)
  return (
    <section class="card recording" aria-labelledby={`${id}-name`}>
      <h2 id={`${id}-name`}>{name}</h2>
      <div class="waveform" ref={container} aria-hidden="true" />
      <ExpectedSpeech
        id={`${id}-expected`}
        fields={fields}
        onSubmit={(chosen) => {
          setFields(chosen)
          onExpected(chosen)
        }}
      />
      <div role="status">
        {progress && 'part' in progress && (
          <label class="progress">
            {progress.state === 'uploading' ? 'Uploading' : 'Transcribing'}
            <progress max={1} value={progress.part || undefined} />
          </label>
        )}
        {progress?.state === 'failed' && <p class="error">{progress.message}</p>}
        {transcript && !transcript.text && <p class="warning">No words were recognised.</p>}
        {words && (
          <Words words={words} current={current} onPick={({ start, end }) => void surfer?.play(start, end)} />
        )}
        {transcript?.text && fields?.expected !== 'speech' && (
          <p class="hint">Nothing else was expected: other speech and sounds are misheard as this.</p>
        )}
        {transcript?.warnings?.map(({ message }) => (
          <p key={message} class="warning">
            {message}
          </p>
        ))}
      </div>
      <div class="buttons">
        {surfer && (
          <button type="button" class="outline" onClick={() => void surfer.playPause()}>
            {playing ? 'Pause' : 'Play'}
          </button>
        )}
        {transcript?.text && <CopyButton text={transcript.text} />}
        {progress && 'part' in progress && (
          <button type="button" class="outline" onClick={cancel}>
            Cancel
          </button>
        )}
        {progress?.state === 'failed' && progress.isTemporary && (
          <button type="button" onClick={() => void start(fields!)}>
            Try again
          </button>
        )}
        <button type="button" class="outline" aria-label={`Remove ${name}`} onClick={onRemove}>
          Remove
        </button>
      </div>
    </section>
  )
}

/** A segment of free speech has several words: the share of each in its time depends on its length. */
function timedWords({ text, start, end }: TimedWord): TimedWord[] {
  const words = text.split(/\s+/).filter(Boolean)
  const perLetter = (end - start) / words.join('').length
  let at = start
  return words.map((word) => ({ text: word, start: at, end: (at += word.length * perLetter) }))
}

interface WordsProps {
  readonly words: readonly TimedWord[]
  /** The index of the word that is played. */
  readonly current?: number
  readonly onPick: (word: TimedWord) => void
}

/** The transcript: each word is a button that plays it. Tab stops once, the arrow keys move from word to word. */
function Words({ words, current, onPick }: WordsProps) {
  const [focused, setFocused] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent): void => {
    const target = { ArrowRight: focused + 1, ArrowLeft: focused - 1, Home: 0, End: words.length - 1 }[
      event.key
    ]
    if (target === undefined || !words[target]) return
    event.preventDefault()
    setFocused(target)
    list.current?.querySelectorAll('button')[target]?.focus()
  }
  return (
    <div class="words" role="group" aria-label="Transcript" ref={list} onKeyDown={move}>
      {words.map((word, index) => (
        <button
          key={index}
          type="button"
          tabIndex={index === Math.min(focused, words.length - 1) ? 0 : -1}
          aria-current={index === current}
          onClick={() => {
            setFocused(index)
            onPick(word)
          }}
        >
          {word.text}
        </button>
      ))}
    </div>
  )
}

/** Copies a text to the clipboard, and confirms it. */
function CopyButton({ text }: { text: string }) {
  const [label, setLabel] = useState('Copy text')
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setLabel('Copied'),
      () => setLabel('Copy failed'),
    )
  return (
    <button type="button" class="outline" onClick={() => void copy()} onBlur={() => setLabel('Copy text')}>
      {label}
    </button>
  )
}
