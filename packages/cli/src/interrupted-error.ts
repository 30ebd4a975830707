/** The user pressed Ctrl+C or Ctrl+D at a prompt. */
export class InterruptedError extends Error {
  override readonly name = 'Interrupted'
}
