import type { Transcript } from '../engines/speech-engine.ts'

/** A recording that is transcribed after its upload. */
export interface Job {
  readonly id: string
  readonly owner: string
  /** Duration of the recording, undefined if it is unknown. */
  readonly seconds: number | undefined
  state: 'waiting' | 'running' | 'done' | 'failed'
  processedSeconds: number
  transcript?: Transcript
  error?: unknown
}
