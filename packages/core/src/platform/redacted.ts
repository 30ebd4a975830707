/** A base for objects that hold secrets: `JSON.stringify`, `console.log` and `util.inspect` show what `toJSON` returns. */
export abstract class Redacted {
  abstract toJSON(): object

  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return this.toJSON()
  }
}
