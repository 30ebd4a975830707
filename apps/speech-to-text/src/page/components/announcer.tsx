import type { Entry, History } from '../history/history.ts'

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
