interface Entry<Key, Value> {
  readonly key: Key
  value: Value
  older: Entry<Key, Value> | undefined
  newer: Entry<Key, Value> | undefined
}

/**
 * A map in the order of use, which may be bounded: then the least recently used entry makes room for a new one. Linked
 * entries, because moving a key to the end of a large `Map` by deleting and setting it costs more the larger the map is.
 */
export class LruMap<Key, Value> {
  readonly #maxEntries: number
  readonly #entries = new Map<Key, Entry<Key, Value>>()
  #oldest: Entry<Key, Value> | undefined
  #newest: Entry<Key, Value> | undefined

  constructor(maxEntries = Number.POSITIVE_INFINITY) {
    this.#maxEntries = maxEntries
  }

  get size(): number {
    return this.#entries.size
  }

  values(): Value[] {
    return Array.from(this.#entries.values(), (entry) => entry.value)
  }

  has(key: Key): boolean {
    return this.#entries.has(key)
  }

  /** Returns the key's value; does not count as a use. */
  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value
  }

  /** Returns the key's value and makes it the most recently used. */
  use(key: Key): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry) this.#moveToEnd(entry)
    return entry?.value
  }

  /** Sets the key's value and makes it the most recently used. */
  set(key: Key, value: Value): void {
    const known = this.#entries.get(key)
    if (known) {
      known.value = value
      return this.#moveToEnd(known)
    }
    const entry = { key, value, older: undefined, newer: undefined }
    this.#entries.set(key, entry)
    this.#append(entry)
    if (this.#entries.size > this.#maxEntries) this.shift()
  }

  /** Removes a key; returns its value. */
  delete(key: Key): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#unlink(entry)
    this.#entries.delete(key)
    return entry.value
  }

  /** Removes the least recently used key; returns its value. */
  shift(): Value | undefined {
    return this.#oldest && this.delete(this.#oldest.key)
  }

  #moveToEnd(entry: Entry<Key, Value>): void {
    if (entry === this.#newest) return
    this.#unlink(entry)
    this.#append(entry)
  }

  #append(entry: Entry<Key, Value>): void {
    entry.older = this.#newest
    entry.newer = undefined
    if (this.#newest) this.#newest.newer = entry
    else this.#oldest = entry
    this.#newest = entry
  }

  #unlink({ older, newer }: Entry<Key, Value>): void {
    if (older) older.newer = newer
    else this.#oldest = newer
    if (newer) newer.older = older
    else this.#newest = older
  }
}
