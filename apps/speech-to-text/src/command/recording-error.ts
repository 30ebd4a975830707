/** A recording cannot be transcribed. The message is one sentence that names it. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError'
}
