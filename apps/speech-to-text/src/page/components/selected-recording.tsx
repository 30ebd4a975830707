import { useMemo, useRef, useState } from 'preact/hooks'
import { isActive, type Entry } from '../history/entry.ts'
import type { History } from '../history/history.ts'
import { timedWords } from '../timed-words.ts'
import type { Route } from '../transcribing/transcriber.ts'
import { CopyButton } from './copy-button.tsx'
import { Downloads } from './downloads.tsx'
import { ProgressLine } from './progress-line.tsx'
import { useWaveform } from './use-waveform.ts'
import { Words } from './words.tsx'

const routes: Record<Route, string> = {
  direct: 'This page called the speech API directly.',
  server: 'This page’s server called the speech API.',
}

export function SelectedRecording({ history }: { history: History }) {
  const entry = history.entries.value.find(({ id }) => id === history.selectedId.value)
  return entry ? <Recording key={entry.id} entry={entry} history={history} /> : null
}

function Recording({ entry, history }: { entry: Entry; history: History }) {
  const { id, name, wav, progress } = entry
  const transcript = progress.state === 'done' ? progress.transcript : undefined
  const words = useMemo(() => (transcript ? timedWords(transcript) : []), [transcript])
  // Gets the keyboard focus when the focused element is removed.
  const heading = useRef<HTMLHeadingElement>(null)
  const [seconds, setSeconds] = useState<number>()
  const { container, playable, playing, player } = useWaveform(wav, words, setSeconds)
  const focusHeading = (): void => heading.current?.focus()
  return (
    <section class="card recording" aria-labelledby="recording-heading">
      <h2 id="recording-heading" tabIndex={-1} ref={heading}>
        {name}
      </h2>
      <div class="waveform" ref={container} aria-hidden="true" hidden={!playable} />
      {progress.state === 'done' ? (
        <>
          {(words.length > 0 || !progress.transcript.warnings?.length) && (
            <Words words={words} seconds={seconds} onPick={({ start, end }) => player.play(start, end)} />
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
          <button type="button" onClick={() => player.toggle()}>
            {playing ? 'Pause' : 'Play'}
          </button>
        )}
        {isActive(progress) && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              focusHeading()
              history.cancel(id)
            }}
          >
            Cancel
          </button>
        )}
        {transcript?.text && <CopyButton text={transcript.text} />}
        {transcript?.text && <Downloads name={name} transcript={transcript} />}
        <button type="button" class="quiet" onClick={() => history.remove(id)}>
          Remove
        </button>
      </div>
      {progress.state === 'done' && <p class="route">{routes[progress.route]}</p>}
    </section>
  )
}
