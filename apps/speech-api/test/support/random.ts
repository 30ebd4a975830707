/** A generator of numbers from 0 to 1, the same ones for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** White noise with a given root mean square. */
export function noise(level: number, length: number, random: () => number): Float32Array {
  return Float32Array.from({ length }, () => level * Math.sqrt(12) * (random() - 0.5))
}
