import type { Progress } from '../history/entry.ts'
import { startSession } from '../server.ts'
import { percent } from './percent.ts'

/** How far a recording is, or why it is not transcribed and what can be done. */
export function ProgressLine({ progress, onTryAgain }: { progress: Progress; onTryAgain: () => void }) {
  switch (progress.state) {
    case 'done':
      return null
    case 'waiting':
      return <p>Waiting for the recordings before it.</p>
    case 'sending':
      return (
        <p>
          <label>
            Sending, {percent(progress.share)} <progress value={progress.share} max={1} />
          </label>
        </p>
      )
    case 'listening':
      return (
        <p>
          <label>
            Transcribing{progress.share !== undefined && `, ${percent(progress.share)}`}{' '}
            <progress value={progress.share} max={1} />
          </label>
        </p>
      )
    case 'failed':
      return (
        <div class="problem">
          <p>{progress.sentence}</p>
          <button
            type="button"
            onClick={() => {
              if (!progress.sessionEnded) return onTryAgain()
              void startSession().finally(onTryAgain)
            }}
          >
            {progress.sessionEnded ? 'Start a new session and try again' : 'Try again'}
          </button>
        </div>
      )
  }
}
