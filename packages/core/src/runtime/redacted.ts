/** Base class of objects that hold secrets: `JSON.stringify`, `console.log` and `util.inspect` show the result of `toJSON`. */
export abstract class Redacted {
  abstract toJSON(): object

  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return this.toJSON()
  }
}
