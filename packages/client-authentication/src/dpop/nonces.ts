/** More origins than a client uses; the least recently used one is removed. */
const maxOrigins = 100

/** The most recent nonce of each server (RFC 9449, sections 8 and 9). */
export class Nonces {
  readonly #byOrigin = new Map<string, string>()

  get(origin: string): string | undefined {
    return this.#byOrigin.get(origin)
  }

  set(origin: string, nonce: string): void {
    this.#byOrigin.delete(origin)
    this.#byOrigin.set(origin, nonce)
    if (this.#byOrigin.size > maxOrigins) this.#byOrigin.delete(this.#byOrigin.keys().next().value!)
  }
}
