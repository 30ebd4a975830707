/** A client has as many jobs under way as it may, for the moment. */
export class ClientShareError extends Error {
  override readonly name = 'ClientShareError'
  /** When it is worth asking again. */
  readonly retryAfterSeconds = 5

  constructor(jobs: number) {
    const underWay = `${jobs} ${jobs === 1 ? 'recording' : 'recordings'} under way`
    super(
      `This client has ${underWay}, as many as it may for now; try again when one is done, or cancel one.`,
    )
  }
}
