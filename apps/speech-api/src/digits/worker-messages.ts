import type { AudioErrorCode } from '../audio-error.ts'
import type { Transcript } from '../speech-engine.ts'

/** What the worker is asked; it answers each message of a job before the next is sent, but not `forget`. */
export type Question =
  | { readonly kind: 'audio'; readonly job: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'end'; readonly job: number }
  | { readonly kind: 'forget'; readonly job: number }

export type Answer =
  | { readonly kind: 'taken'; readonly job: number; readonly heardSeconds: number }
  | { readonly kind: 'heard'; readonly job: number; readonly transcript: Transcript }
  | {
      readonly kind: 'failed'
      readonly job: number
      /** Missing if it is not the recording that is at fault. */
      readonly code?: AudioErrorCode | undefined
      readonly message: string
    }

export type GoodAnswer = Exclude<Answer, { kind: 'failed' }>
