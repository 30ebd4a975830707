import type { Transcript } from '../speech-engine.ts'

/** A recording that is transcribed after the request that brought it. */
export interface Job {
  readonly id: string
  readonly owner: string
  /** How long the recording is; undefined if nothing tells. */
  readonly seconds: number | undefined
  state: 'waiting' | 'running' | 'done' | 'failed'
  heardSeconds: number
  transcript?: Transcript
  error?: unknown
}
