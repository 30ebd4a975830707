/** What is wrong with a recording: stable codes that callers may compare. */
export type AudioErrorCode = 'empty_file' | 'not_a_wav' | 'broken_wav' | 'unsupported_wav' | 'no_samples'

/** A recording that cannot be heard, with one sentence saying why. */
export class AudioError extends Error {
  override readonly name = 'AudioError'
  readonly code: AudioErrorCode

  constructor(code: AudioErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
