import type { Transcript } from '../../speech/transcript.ts'
import type { Route } from '../transcribing/transcriber.ts'

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
  readonly progress: Progress
}
