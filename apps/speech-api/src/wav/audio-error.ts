/** Stable codes that callers may compare. */
export type AudioErrorCode =
  | 'empty_file'
  | 'not_a_wav'
  | 'malformed_wav'
  | 'unsupported_wav'
  | 'no_samples'
  | 'invalid_samples'

/** A recording that cannot be read. The message is one sentence for the client. */
export class AudioError extends Error {
  override readonly name = 'AudioError'
  readonly code: AudioErrorCode

  constructor(code: AudioErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
