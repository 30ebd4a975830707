import { signal, type ReadonlySignal } from '@preact/signals'
import pLimit from 'p-limit'
import { describeError } from '../transcribing/describe-error.ts'
import type { Route, Transcriber } from '../transcribing/transcriber.ts'
import { readEntries, removeEntry, writeEntry } from './entry-store.ts'
import { isActive, type Entry, type Progress } from './entry.ts'

export interface History {
  /** The newest first. */
  readonly entries: ReadonlySignal<readonly Entry[]>
  readonly selectedId: ReadonlySignal<string | undefined>
  select(id: string): void
  /** Stores and transcribes a recording. */
  add(name: string, wav: Blob): void
  cancel(id: string): void
  tryAgain(id: string): void
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

  const transcribe = async ({ id, wav }: Entry): Promise<void> => {
    const abort = new AbortController()
    aborts.set(id, abort)
    const chosen = route()
    try {
      update(id, { state: 'uploading', fraction: 0 })
      const transcript = await transcribers[chosen].transcribe(wav, {
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
    add(name, wav) {
      const entry: Entry = {
        id: crypto.randomUUID(),
        name,
        addedAt: Date.now(),
        wav,
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
    tryAgain(id) {
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
