import type { Progress } from '../history/entry.ts'
import { startSession } from '../page-server.ts'
import { percent } from './percent.ts'

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
          <button type="button" class="quiet" onClick={onTryAgain}>
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
