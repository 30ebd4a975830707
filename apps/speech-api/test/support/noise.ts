/** White noise with a given root mean square. */
export function noise(level: number, length: number, random: () => number): Float32Array {
  return Float32Array.from({ length }, () => level * Math.sqrt(12) * (random() - 0.5))
}
