import { createStore, del, set, values } from 'idb-keyval'
import type { Entry } from './entry.ts'

const store = createStore('speech-to-text', 'recordings')

/** The entries that this browser keeps, the newest first; none where it keeps nothing. */
export async function readEntries(): Promise<Entry[]> {
  const entries = await values<Entry>(store).catch(() => [])
  return entries.map(settle).sort((one, other) => other.addedAt - one.addedAt)
}

export async function writeEntry(entry: Entry): Promise<void> {
  // Private windows keep nothing: the history then lasts as long as the page.
  await set(entry.id, entry, store).catch(() => {})
}

export async function removeEntry(id: string): Promise<void> {
  await del(id, store).catch(() => {})
}

/** What was under way when the page was left is not any more. */
function settle(entry: Entry): Entry {
  const { state } = entry.progress
  if (state === 'done' || state === 'failed') return entry
  const sentence = 'The page was left before this recording was transcribed.'
  return { ...entry, progress: { state: 'failed', sentence, sessionEnded: false } }
}
