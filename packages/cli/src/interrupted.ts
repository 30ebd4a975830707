/** The user pressed Ctrl-C or Ctrl-D at a question. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}
