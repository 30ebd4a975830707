/** The words that the speech API recognised in a recording. */
export interface Transcript {
  readonly text: string
  readonly durationSeconds: number
  readonly segments: readonly TranscriptSegment[]
  /** What may be wrong with the recording or the transcript. */
  readonly warnings?: readonly { readonly code: string; readonly message: string }[] | undefined
}

/** A part of the recording, in seconds from its start, and the words in it. */
export interface TranscriptSegment {
  readonly start: number
  readonly end: number
  readonly text: string
  /** From 0 to 1. */
  readonly confidence: number
}
