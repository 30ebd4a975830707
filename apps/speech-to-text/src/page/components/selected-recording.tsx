import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Signal } from '@preact/signals'
import type { Expected, Transcript } from '../../speech/speech-api-response.ts'
import { type Format, formats, transcriptFile, type TimedWord, timedWords } from '../downloads/subtitles.ts'
import { type Entry, isActive, type History } from '../history/history.ts'
import type { Route } from '../transcribing/transcriber.ts'
import { type ExpectedChoice, expectedIn, nameOf } from './expected-speech.tsx'
import { ProgressLine } from './progress-line.tsx'
import { useWaveform } from './use-waveform.ts'

/** Copies a text to the clipboard, and confirms it. */
function CopyButton({ text }: { text: string }) {
  const [label, setLabel] = useState('Copy text')
  useEffect(() => {
    if (label === 'Copy text') return undefined
    const timer = setTimeout(() => setLabel('Copy text'), 2_000)
    return () => clearTimeout(timer)
  }, [label])
  const copy = (): Promise<void> =>
    navigator.clipboard.writeText(text).then(
      () => setLabel('Copied'),
      () => setLabel('Copy failed'),
    )
  return (
    <button type="button" class="outline copy" aria-live="polite" onClick={() => void copy()}>
      {label}
    </button>
  )
}

const formatNames: Record<Format, string> = { txt: 'Text (TXT)', srt: 'Subtitles (SRT)', json: 'JSON' }

function ExportMenu({ name, transcript }: { name: string; transcript: Transcript }) {
  const menu = useRef<HTMLDetailsElement>(null)
  const close = (): void => {
    if (menu.current) menu.current.open = false
    menu.current?.querySelector('summary')?.focus()
  }
  return (
    <details
      class="menu"
      ref={menu}
      onKeyDown={({ key }) => key === 'Escape' && close()}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) currentTarget.open = false
      }}
    >
      <summary>Export</summary>
      <div>
        {formats.map((format) => (
          <button
            key={format}
            type="button"
            class="outline"
            onClick={() => {
              save(name, transcript, format)
              close()
            }}
          >
            {formatNames[format]}
          </button>
        ))}
      </div>
    </details>
  )
}

function save(name: string, transcript: Transcript, format: Format): void {
  const url = URL.createObjectURL(transcriptFile(transcript, format))
  const link = Object.assign(document.createElement('a'), {
    href: url,
    download: `${name.replace(/\.wave?$/i, '')}.${format}`,
  })
  link.click()
  // Not at once: the browser may still be reading it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

interface WordsProps {
  readonly words: readonly TimedWord[]
  /** Duration of the recording; with it, each word stands under its sound. */
  readonly durationSeconds?: number | undefined
  /** Position of the player; undefined before it was played. */
  readonly seconds: number | undefined
  readonly onPick: (word: TimedWord) => void
}

/** The transcript: each word is a button that plays it. Tab stops once, the arrow keys move from word to word. */
function Words({ words, durationSeconds, seconds = -1, onPick }: WordsProps) {
  const [focused, setFocused] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const current = words.findIndex(({ start, end }) => start <= seconds && seconds < end)
  useEffect(() => scrollTo(list.current, list.current?.querySelectorAll('button')[current]), [current])

  const move = (event: KeyboardEvent): void => {
    const target = { ArrowRight: focused + 1, ArrowLeft: focused - 1, Home: 0, End: words.length - 1 }[
      event.key
    ]
    if (target === undefined || !words[target]) return
    event.preventDefault()
    setFocused(target)
    list.current?.querySelectorAll('button')[target]?.focus()
  }
  const percent = (part: number) => `${(100 * part) / (durationSeconds ?? 1)}%`

  return (
    <div
      class={`words ${durationSeconds === undefined ? 'text' : 'below'}`}
      role="group"
      aria-label="Transcript"
      ref={list}
      onKeyDown={move}
    >
      {words.map((word, index) => (
        <button
          key={index}
          type="button"
          class={word.uncertain ? 'uncertain' : ''}
          title={word.uncertain ? 'Uncertain' : undefined}
          style={
            durationSeconds === undefined
              ? undefined
              : { left: percent(word.start), width: percent(word.end - word.start) }
          }
          tabIndex={index === focused ? 0 : -1}
          aria-current={index === current}
          onFocus={() => setFocused(index)}
          onClick={() => onPick(word)}
        >
          {word.text}
        </button>
      ))}
    </div>
  )
}

/** Scrolls the text, not the page. */
function scrollTo(text: HTMLElement | null, word: HTMLElement | undefined): void {
  if (!text || !word) return
  const above = word.offsetTop < text.scrollTop
  const below = word.offsetTop + word.offsetHeight > text.scrollTop + text.clientHeight
  if (above || below) text.scrollTop = word.offsetTop - text.clientHeight / 3
}

const routes: Record<Route, string> = {
  direct: 'This page called the speech API directly.',
  server: 'This page’s server called the speech API.',
}

export interface SelectedRecordingProps {
  readonly history: History
  readonly choice: Signal<ExpectedChoice>
}

export function SelectedRecording({ history, choice }: SelectedRecordingProps) {
  const entry = history.entries.value.find(({ id }) => id === history.selectedId.value)
  return entry ? <Recording key={entry.id} entry={entry} history={history} choice={choice} /> : null
}

function Recording({ entry, history, choice }: SelectedRecordingProps & { entry: Entry }) {
  const { id, name, wav, expected, progress } = entry
  const transcript = progress.state === 'done' ? progress.transcript : undefined
  const words = useMemo(() => (transcript ? timedWords(transcript) : []), [transcript])
  // Gets the keyboard focus when the focused element is removed.
  const heading = useRef<HTMLHeadingElement>(null)
  const [seconds, setSeconds] = useState<number>()
  const { container, playable, playing, player } = useWaveform(wav, words, setSeconds)
  const focusHeading = (): void => heading.current?.focus()
  // Longer words would not fit below their sound.
  const areCharacters = words.every(({ text }) => text.length === 1)
  const other = otherThan(expected, choice.value)
  const shown = (
    <Words
      words={words}
      durationSeconds={areCharacters ? transcript?.durationSeconds : undefined}
      seconds={seconds}
      onPick={({ start, end }) => player.play(start, end)}
    />
  )
  return (
    <section class="card recording" aria-labelledby="recording-heading">
      <h2 id="recording-heading" tabIndex={-1} ref={heading}>
        {name}
      </h2>
      <div class="track">
        <div style={areCharacters ? { minWidth: `${words.length * 3}rem` } : undefined}>
          <div class="waveform" ref={container} aria-hidden="true" hidden={!playable} />
          {words.length > 0 && areCharacters && shown}
        </div>
      </div>
      {words.length > 0 && !areCharacters && shown}
      {progress.state === 'done' ? (
        <>
          {words.length === 0 && !progress.transcript.warnings?.length && <p>No words recognised.</p>}
          {progress.transcript.uncertain && (
            <p class="warning">
              Part of this sounds unlike {nameOf(expected).toLowerCase()}, and may be something else.
            </p>
          )}
          {progress.transcript.warnings?.map(({ code, message }) => (
            <p key={code} class="warning">
              {message}
            </p>
          ))}
        </>
      ) : (
        <ProgressLine
          progress={progress}
          onTryAgain={() => {
            focusHeading()
            history.tryAgain(id)
          }}
        />
      )}
      <div class="buttons">
        {playable && (
          <button
            type="button"
            // The error has the primary button.
            class={progress.state === 'failed' ? 'outline' : ''}
            onClick={() => player.toggle()}
          >
            {playing ? 'Pause' : 'Play'}
          </button>
        )}
        {isActive(progress) && (
          <button
            type="button"
            class="outline"
            onClick={() => {
              focusHeading()
              history.cancel(id)
            }}
          >
            Cancel
          </button>
        )}
        {transcript?.text && <CopyButton text={transcript.text} />}
        {transcript?.text && <ExportMenu name={name} transcript={transcript} />}
        {other && !isActive(progress) && (
          <button
            type="button"
            class="outline"
            onClick={() => {
              focusHeading()
              history.tryAgain(id, other)
            }}
          >
            Transcribe as {nameOf(other).toLowerCase()}
          </button>
        )}
        <button type="button" class="outline" onClick={() => history.remove(id)}>
          Remove
        </button>
      </div>
      <p class="route">
        Expected: {nameOf(expected).toLowerCase()}. {progress.state === 'done' && routes[progress.route]}
      </p>
    </section>
  )
}

/** What the user has chosen, if it differs from what was expected. */
function otherThan(expected: Expected, choice: ExpectedChoice): Expected | undefined {
  try {
    const chosen = expectedIn(choice)
    return JSON.stringify(chosen) === JSON.stringify(expected) ? undefined : chosen
  } catch {
    return undefined
  }
}
