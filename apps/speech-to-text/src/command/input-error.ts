/** What is wrong with one of the recordings, in one sentence that names it. */
export class InputError extends Error {
  override readonly name = 'InputError'
}
