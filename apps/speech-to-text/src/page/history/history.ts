import { createStore, promisifyRequest, set, values } from 'idb-keyval'
import { type ReadonlySignal, signal } from '@preact/signals'
import pLimit from 'p-limit'
import { type Expected, expectedSchema, type Transcript } from '../../speech/speech-api-response.ts'
import { type Route, type Transcriber, describeError } from '../transcribing/transcriber.ts'

export type Progress =
  | { readonly state: 'waiting' }
  | { readonly state: 'uploading'; readonly fraction: number }
  /** `fraction` is missing if it is unknown. */
  | { readonly state: 'transcribing'; readonly fraction?: number | undefined }
  | { readonly state: 'cancelled' }
  | { readonly state: 'done'; readonly transcript: Transcript; readonly route: Route }
  | { readonly state: 'failed'; readonly message: string; readonly sessionExpired: boolean }

/** Whether the recording waits for something that can be cancelled. */
export function isActive({ state }: Progress): boolean {
  return state === 'waiting' || state === 'uploading' || state === 'transcribing'
}

/** A recording in the history of this page. */
export interface Entry {
  readonly id: string
  readonly name: string
  /** Milliseconds since 1970. */
  readonly addedAt: number
  readonly wav: Blob
  readonly expected: Expected
  readonly progress: Progress
}

const store = createStore('speech-to-text', 'recordings')

/** Private windows may not store anything, and some throw at once: the history then lasts as long as the page. */
async function withStorage<Result>(work: () => Promise<Result>, otherwise: Result): Promise<Result> {
  try {
    return await work()
  } catch {
    return otherwise
  }
}

/** Reads the stored entries, the newest first; none if the browser stores nothing. */
async function readEntries(): Promise<Entry[]> {
  const entries = await withStorage(() => values<Entry>(store), [])
  const readable = entries.filter(({ expected }) => expectedSchema.safeParse(expected).success)
  return readable.map(settle).sort((one, other) => other.addedAt - one.addedAt)
}

async function writeEntry(entry: Entry): Promise<void> {
  await withStorage(() => set(entry.id, entry, store), undefined)
}

async function removeEntry(id: string): Promise<void> {
  const removed = () =>
    store('readwrite', (entries) => {
      entries.delete(id)
      // Otherwise a page that is closed or reloaded now would keep the recording.
      entries.transaction.commit()
      return promisifyRequest(entries.transaction)
    })
  await withStorage(removed, undefined)
}

/** A transcription that was in progress when the page was closed has failed. */
function settle(entry: Entry): Entry {
  if (!isActive(entry.progress)) return entry
  const message = 'The page was closed before this recording was transcribed.'
  return { ...entry, progress: { state: 'failed', message, sessionExpired: false } }
}

export interface History {
  /** The newest first. */
  readonly entries: ReadonlySignal<readonly Entry[]>
  readonly selectedId: ReadonlySignal<string | undefined>
  select(id: string): void
  /** Stores and transcribes a recording. */
  add(name: string, wav: Blob, expected: Expected): void
  cancel(id: string): void
  /** @param expected by default the same as before */
  tryAgain(id: string, expected?: Expected): void
  remove(id: string): void
  /** The entry that was removed last, until it is restored or dismissed. */
  readonly removed: ReadonlySignal<Entry | undefined>
  restore(): void
  dismissRemoved(): void
}

/** @param route called when a recording is sent */
export function createHistory(transcribers: Record<Route, Transcriber>, route: () => Route): History {
  const entries = signal<readonly Entry[]>([])
  const selectedId = signal<string>()
  const removed = signal<Entry>()
  const aborts = new Map<string, AbortController>()
  const limit = pLimit(3)

  void readEntries().then((stored) => {
    entries.value = [...entries.value, ...stored]
    selectedId.value ??= stored[0]?.id
  })

  const update = (id: string, progress: Progress): void => {
    entries.value = entries.value.map((entry) => (entry.id === id ? { ...entry, progress } : entry))
    const entry = entries.value.find((entry) => entry.id === id)
    if (entry && !['uploading', 'transcribing'].includes(progress.state)) void writeEntry(entry)
  }

  const transcribe = async ({ id, wav, expected }: Entry): Promise<void> => {
    const abort = new AbortController()
    aborts.set(id, abort)
    const chosen = route()
    try {
      update(id, { state: 'uploading', fraction: 0 })
      const transcript = await transcribers[chosen].transcribe(wav, {
        expected,
        signal: abort.signal,
        onUpload: (fraction) =>
          update(id, fraction < 1 ? { state: 'uploading', fraction } : { state: 'transcribing' }),
        onProgress: (fraction) => update(id, { state: 'transcribing', fraction }),
      })
      update(id, { state: 'done', transcript, route: chosen })
    } catch (error) {
      update(
        id,
        abort.signal.aborted ? { state: 'cancelled' } : { state: 'failed', ...describeError(error, chosen) },
      )
    } finally {
      aborts.delete(id)
    }
  }

  const start = (entry: Entry): void => {
    update(entry.id, { state: 'waiting' })
    void limit(async () => {
      // It may have been cancelled or removed while it was waiting.
      const current = entries.value.find(({ id }) => id === entry.id)
      if (current?.progress.state === 'waiting') await transcribe(entry)
    })
  }

  return {
    entries,
    selectedId,
    select: (id) => void (selectedId.value = id),
    add(name, wav, expected) {
      const entry: Entry = {
        id: crypto.randomUUID(),
        name,
        addedAt: Date.now(),
        wav,
        expected,
        progress: { state: 'waiting' },
      }
      entries.value = [entry, ...entries.value]
      selectedId.value = entry.id
      start(entry)
    },
    cancel(id) {
      const entry = entries.value.find((entry) => entry.id === id)
      if (!entry || !isActive(entry.progress)) return
      aborts.get(id)?.abort()
      update(id, { state: 'cancelled' })
    },
    tryAgain(id, expected) {
      entries.value = entries.value.map((entry) =>
        entry.id === id && expected ? { ...entry, expected } : entry,
      )
      const entry = entries.value.find((entry) => entry.id === id)
      if (entry) start(entry)
    },
    remove(id) {
      removed.value = entries.value.find((entry) => entry.id === id)
      aborts.get(id)?.abort()
      entries.value = entries.value.filter((entry) => entry.id !== id)
      if (selectedId.value === id) selectedId.value = entries.value[0]?.id
      void removeEntry(id)
    },
    removed,
    restore() {
      const entry = removed.value
      if (!entry) return
      removed.value = undefined
      entries.value = [...entries.value, entry].sort((one, other) => other.addedAt - one.addedAt)
      selectedId.value = entry.id
      if (isActive(entry.progress)) start(entry)
      else void writeEntry(entry)
    },
    dismissRemoved: () => void (removed.value = undefined),
  }
}
