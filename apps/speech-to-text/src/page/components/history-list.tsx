import { useEffect, useRef } from 'preact/hooks'
import { type Entry, isActive, type History } from '../history/history.ts'
import { percent } from './progress-line.tsx'

/** All recordings, one line each, with the progress of those that are being transcribed. */
export function HistoryList({ history }: { history: History }) {
  const entries = history.entries.value
  if (entries.length < 2) return null
  const active = entries.filter(({ progress }) => isActive(progress)).length
  return (
    <section class="history" aria-labelledby="history-heading">
      <h2 id="history-heading">History</h2>
      <p>
        Stored only in this browser.
        {active > 1 && (
          <>
            {' '}
            {entries.length - active} of {entries.length} finished.{' '}
            <button type="button" class="link" onClick={() => cancelAll(history)}>
              Cancel all
            </button>
          </>
        )}
      </p>
      <ul>
        {entries.map((entry) => (
          <HistoryLine key={entry.id} entry={entry} history={history} />
        ))}
      </ul>
    </section>
  )
}

function HistoryLine({ entry, history }: { entry: Entry; history: History }) {
  const { id, name, addedAt, progress } = entry
  return (
    <li>
      <button
        type="button"
        class="line"
        aria-current={id === history.selectedId.value}
        onClick={() => history.select(id)}
      >
        <span class="name">{name}</span>
        <span class={`summary ${progress.state}`}>{summary(entry)}</span>
        <span class="time">
          {progress.state === 'done' && `${Math.round(progress.transcript.durationSeconds)} s`}
        </span>
        <time class="time" dateTime={new Date(addedAt).toISOString()}>
          {new Date(addedAt).toLocaleTimeString([], { timeStyle: 'short' })}
        </time>
        {isActive(progress) && (
          <progress max={1} value={fractionOf(entry)} aria-label={`Progress of ${name}`} />
        )}
      </button>
      {isActive(progress) && (
        <button
          type="button"
          class="outline"
          aria-label={`Cancel ${name}`}
          title="Cancel"
          onClick={() => history.cancel(id)}
        >
          ✕
        </button>
      )}
    </li>
  )
}

function cancelAll(history: History): void {
  for (const { id } of history.entries.value) history.cancel(id)
}

function fractionOf({ progress }: Entry): number | undefined {
  return progress.state === 'waiting' ? 0 : 'fraction' in progress ? progress.fraction : undefined
}

function summary({ progress }: Entry): string {
  switch (progress.state) {
    case 'done':
      return progress.transcript.text || 'No words recognised'
    case 'failed':
      // Why. What to do stands beside the button that does it.
      return progress.message.split(/(?<=\.) /, 1)[0]!
    case 'cancelled':
      return 'Cancelled'
    case 'waiting':
      return 'Waiting'
    case 'uploading':
      return `Uploading, ${percent(progress.fraction)}`
    case 'transcribing':
      return progress.fraction === undefined ? 'Transcribing' : `Transcribing, ${percent(progress.fraction)}`
  }
}

/** Offers to restore the recording that was removed last. */
export function UndoRemove({ history }: { history: History }) {
  const entry = history.removed.value
  const undo = useRef<HTMLButtonElement>(null)
  // The button that removed the recording had the focus, and is gone.
  useEffect(() => undo.current?.focus(), [entry])
  const focusStart = (): void => document.querySelector<HTMLElement>('.add button')?.focus()
  return (
    <div role="status">
      {entry && (
        <div class="card undo">
          <span class="name">Removed {entry.name}.</span>
          <button
            ref={undo}
            type="button"
            class="outline"
            onClick={() => {
              history.restore()
              focusStart()
            }}
          >
            Undo
          </button>
          <button
            type="button"
            class="outline"
            onClick={() => {
              history.dismissRemoved()
              focusStart()
            }}
          >
            Dismiss
          </button>
        </div>
      )}
    </div>
  )
}

/** Announces the state of the newest recording to screen readers. */
export function Announcer({ history }: { history: History }) {
  const [newest] = history.entries.value
  return (
    <p class="visually-hidden" role="status">
      {newest && announcement(newest)}
    </p>
  )
}

function announcement({ name, progress }: Entry): string {
  switch (progress.state) {
    case 'done':
      return `${name}: ${progress.transcript.text || (progress.transcript.warnings?.[0]?.message ?? 'No words recognised.')}`
    case 'failed':
      return `${name}: ${progress.message}`
    case 'cancelled':
      return `${name} was cancelled.`
    case 'waiting':
    case 'uploading':
    case 'transcribing':
      return `${name} is being transcribed.`
  }
}
