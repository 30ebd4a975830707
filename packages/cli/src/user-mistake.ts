/** Something its reader can mend: said in one sentence, without a stack trace. */
export class UserMistake extends Error {
  override readonly name = 'UserMistake'
}
