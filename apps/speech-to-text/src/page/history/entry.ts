import type { Transcript } from '../../transcript.ts'

export type Route = 'direct' | 'server'

/** What is going on with a recording. */
export type Progress =
  | { readonly state: 'waiting' }
  | { readonly state: 'sending'; readonly share: number }
  /** `share` is missing where it is not told. */
  | { readonly state: 'listening'; readonly share?: number | undefined }
  | { readonly state: 'done'; readonly transcript: Transcript; readonly route: Route }
  | { readonly state: 'failed'; readonly sentence: string; readonly sessionEnded: boolean }

/** A recording in the history of this page. */
export interface Entry {
  readonly id: string
  readonly name: string
  /** Milliseconds since 1970. */
  readonly addedAt: number
  readonly wav: Blob
  readonly progress: Progress
}
