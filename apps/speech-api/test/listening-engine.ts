import type { EngineOptions, SpeechEngine } from '@tokenwell/speech-api'

export interface ListeningEngine extends SpeechEngine {
  /** Bytes read so far, of all recordings. */
  readonly bytes: number
  readonly calls: number
  /** Settled when a recording has begun to arrive. */
  readonly begun: Promise<void>
  /** Settled with the reason when a transcription is aborted. */
  readonly aborted: Promise<unknown>
}

/** An engine that only reads: it hears nothing, and answers when `until` is settled. */
export function createListeningEngine(until: Promise<unknown> = Promise.resolve()): ListeningEngine {
  const begun = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<unknown>()
  const state = { bytes: 0, calls: 0 }
  return Object.assign(state, {
    name: 'listening',
    begun: begun.promise,
    aborted: aborted.promise,
    async transcribe(audio: AsyncIterable<Uint8Array>, { signal, onProgress }: EngineOptions) {
      state.calls++
      signal.addEventListener('abort', () => aborted.resolve(signal.reason))
      onProgress?.(0)
      for await (const piece of audio) {
        state.bytes += piece.length
        begun.resolve()
      }
      await until
      return { durationSeconds: 0, segments: [] }
    },
    close: () => Promise.resolve(),
  })
}
