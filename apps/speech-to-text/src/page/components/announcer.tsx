import type { Entry } from '../history/entry.ts'
import type { History } from '../history/history.ts'

/** Tells those who do not see the page what became of the newest recording. */
export function Announcer({ history }: { history: History }) {
  const [newest] = history.entries.value
  return (
    <p class="unseen" role="status">
      {newest && announcement(newest)}
    </p>
  )
}

function announcement({ name, progress }: Entry): string {
  switch (progress.state) {
    case 'done':
      return `${name}: ${progress.transcript.text || 'nothing was said'}`
    case 'failed':
      return `${name}: ${progress.sentence}`
    case 'waiting':
    case 'sending':
    case 'listening':
      return `${name} is being transcribed.`
  }
}
