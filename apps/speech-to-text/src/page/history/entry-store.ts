import { createStore, promisifyRequest, set, values } from 'idb-keyval'
import { isActive, type Entry } from './entry.ts'

const store = createStore('speech-to-text', 'recordings')

/** Reads the stored entries, the newest first; none if the browser stores nothing. */
export async function readEntries(): Promise<Entry[]> {
  const entries = await values<Entry>(store).catch(() => [])
  return entries.map(settle).sort((one, other) => other.addedAt - one.addedAt)
}

export async function writeEntry(entry: Entry): Promise<void> {
  // Private windows may not store anything: the history then lasts as long as the page.
  await set(entry.id, entry, store).catch(() => {})
}

export async function removeEntry(id: string): Promise<void> {
  const removed = store('readwrite', (entries) => {
    entries.delete(id)
    // Otherwise a page that is closed or reloaded now would keep the recording.
    entries.transaction.commit()
    return promisifyRequest(entries.transaction)
  })
  await removed.catch(() => {})
}

/** A transcription that was in progress when the page was closed has failed. */
function settle(entry: Entry): Entry {
  if (!isActive(entry.progress)) return entry
  const message = 'The page was closed before this recording was transcribed.'
  return { ...entry, progress: { state: 'failed', message, sessionExpired: false } }
}
