import type { TranscribeOptions, SpeechEngine } from '@tokenwell/speech-api'

export interface CountingEngine extends SpeechEngine {
  /** Bytes read so far, of all recordings. */
  readonly bytes: number
  readonly calls: number
  /** Resolved when the first bytes of a recording have arrived. */
  readonly started: Promise<void>
  /** Resolved with the reason when a transcription is aborted. */
  readonly aborted: Promise<unknown>
}

/** An engine that only counts bytes. It returns an empty transcript once `until` is settled. */
export function createCountingEngine(until: Promise<unknown> = Promise.resolve()): CountingEngine {
  const started = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<unknown>()
  const state = { bytes: 0, calls: 0 }
  return Object.assign(state, {
    name: 'counting',
    started: started.promise,
    aborted: aborted.promise,
    async transcribe(audio: AsyncIterable<Uint8Array>, { signal, onProgress }: TranscribeOptions) {
      state.calls++
      signal.addEventListener('abort', () => aborted.resolve(signal.reason))
      onProgress?.(0)
      for await (const piece of audio) {
        state.bytes += piece.length
        started.resolve()
      }
      await until
      return { durationSeconds: 0, segments: [] }
    },
    close: () => Promise.resolve(),
  })
}
