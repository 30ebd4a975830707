/** White noise with a given root mean square. */
export function noise(level: number, length: number, random: () => number): Float32Array {
  return Float32Array.from({ length }, () => level * Math.sqrt(12) * (random() - 0.5))
}

/** A sine with an amplitude of 0.5. */
export function tone(hertz: number, sampleRate: number, seconds: number): Float32Array {
  return Float32Array.from(
    { length: Math.round(sampleRate * seconds) },
    (_, index) => 0.5 * Math.sin((2 * Math.PI * hertz * index) / sampleRate),
  )
}

/** The root mean square without both ends, where a filter starts and stops. */
export function level(samples: Float32Array): number {
  const middle = samples.subarray(samples.length / 10, samples.length * 0.9)
  return Math.sqrt(middle.reduce((sum, sample) => sum + sample * sample, 0) / middle.length)
}

/** The largest difference between two recordings of the same length. */
export function largestDifference(one: Float32Array, other: Float32Array): number {
  return one.reduce((most, sample, index) => Math.max(most, Math.abs(sample - (other[index] ?? Infinity))), 0)
}
