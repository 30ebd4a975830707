/** Something its reader can mend: shown as one sentence, without a stack trace. */
export class UserMistake extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UserMistake'
  }
}
