import type { AudioErrorCode } from '../../wav/audio-error.ts'
import type { Transcript } from '../speech-engine.ts'
import type { Bandwidth } from './features/bandwidth.ts'
import type { DigitTemplates } from './recognition/digit-templates.ts'

/** Sent to the thread. It responds to each message of a job before the next is sent, but not to `remove`. */
export type ThreadRequest =
  | { readonly kind: 'audio'; readonly job: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'end'; readonly job: number }
  | { readonly kind: 'remove'; readonly job: number }

export type ThreadResponse =
  | { readonly kind: 'processed'; readonly job: number; readonly processedSeconds: number }
  | { readonly kind: 'transcribed'; readonly job: number; readonly transcript: Transcript }
  | {
      readonly kind: 'failed'
      readonly job: number
      /** Missing if the recording is not the cause. */
      readonly code?: AudioErrorCode | undefined
      readonly message: string
    }

/** Sent by a thread that has loaded templates. */
export interface LoadedTemplates {
  readonly kind: 'loaded'
  readonly bandwidth: Bandwidth
  readonly templates: DigitTemplates
}

export type SuccessfulResponse = Exclude<ThreadResponse, { kind: 'failed' }>
