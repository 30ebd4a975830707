const inspectSymbol = Symbol.for('nodejs.util.inspect.custom')

/**
 * A base for objects that hold secrets: `JSON.stringify`, `console.log`, `util.inspect` and string
 * conversion show what `toJSON` returns and nothing else.
 */
export abstract class Redacted {
  abstract toJSON(): object

  toString(): string {
    return `[${this.constructor.name}]`
  }

  [inspectSymbol](_depth: number, _options: unknown, inspect?: (value: unknown) => string): string {
    const shown = this.toJSON()
    return `${this.constructor.name} ${inspect ? inspect(shown) : JSON.stringify(shown)}`
  }
}
