import type { Entry } from '../history/entry.ts'
import type { History } from '../history/history.ts'
import { percent } from './percent.ts'

export function HistoryList({ history }: { history: History }) {
  const entries = history.entries.value
  if (entries.length < 2) return null
  return (
    <section class="history" aria-labelledby="history-heading">
      <h2 id="history-heading">History</h2>
      <p>Stored in this browser only.</p>
      <ul>
        {entries.map((entry) => (
          <li key={entry.id}>
            <button
              type="button"
              aria-current={entry.id === history.selectedId.value}
              onClick={() => history.select(entry.id)}
            >
              <span class="name">{entry.name}</span>
              <span class={`summary ${entry.progress.state}`}>{summary(entry)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

function summary({ progress }: Entry): string {
  switch (progress.state) {
    case 'done':
      return progress.transcript.text || 'No words recognised.'
    case 'failed':
      return progress.message
    case 'waiting':
      return 'Waiting'
    case 'uploading':
      return `Uploading, ${percent(progress.fraction)}`
    case 'transcribing':
      return progress.fraction === undefined ? 'Transcribing' : `Transcribing, ${percent(progress.fraction)}`
  }
}
