/** What the caller has set up wrong, in one sentence. */
export class SetupError extends Error {
  override readonly name = 'SetupError'
}
