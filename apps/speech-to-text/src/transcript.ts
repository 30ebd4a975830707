/** What the speech API heard in a recording. */
export interface Transcript {
  readonly text: string
  readonly durationSeconds: number
  readonly segments: readonly TranscriptSegment[]
}

/** A stretch of the recording, in seconds from its start, and what was said in it. */
export interface TranscriptSegment {
  readonly start: number
  readonly end: number
  readonly text: string
  /** From 0 to 1. */
  readonly confidence: number
}
