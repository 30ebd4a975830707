import type { Progress } from '../history/history.ts'
import { startSession } from '../transcribing/server-transcriber.ts'

/** @param fraction from 0 to 1 */
export function percent(fraction: number): string {
  return `${Math.round(fraction * 100)}%`
}

/** Shows the progress of a recording, or why it failed and how to continue. */
export function ProgressLine({ progress, onTryAgain }: { progress: Progress; onTryAgain: () => void }) {
  switch (progress.state) {
    case 'done':
      return null
    case 'waiting':
      return <p>Waiting for other recordings.</p>
    case 'uploading':
      return (
        <p>
          <label>
            Uploading, {percent(progress.fraction)} <progress value={progress.fraction} max={1} />
          </label>
        </p>
      )
    case 'transcribing':
      return (
        <p>
          <label>
            Transcribing{progress.fraction !== undefined && `, ${percent(progress.fraction)}`}{' '}
            <progress value={progress.fraction} max={1} />
          </label>
        </p>
      )
    case 'cancelled':
      return (
        <p class="cancelled">
          Cancelled.{' '}
          <button type="button" class="outline" onClick={onTryAgain}>
            Transcribe again
          </button>
        </p>
      )
    case 'failed':
      return (
        <div class="error">
          <p>{progress.message}</p>
          <button
            type="button"
            onClick={() => {
              if (!progress.sessionExpired) return onTryAgain()
              void startSession().finally(onTryAgain)
            }}
          >
            {progress.sessionExpired ? 'Start a new session and try again' : 'Try again'}
          </button>
        </div>
      )
  }
}
