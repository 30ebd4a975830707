/** Concatenates pieces of a recording. */
export function joinSamples(pieces: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(pieces.reduce((length, piece) => length + piece.length, 0))
  let offset = 0
  for (const piece of pieces) {
    joined.set(piece, offset)
    offset += piece.length
  }
  return joined
}

export interface Resampler {
  /** Takes the next samples at the old rate and returns those at the new rate that they complete. */
  push(samples: Float32Array): Float32Array
  /** Returns the remaining samples. */
  end(): Float32Array
}

const ZERO_CROSSINGS = 16
const ROLL_OFF = 0.92 // of the lower of the two Nyquist frequencies
const MAX_PHASES = 1_024

/** Converts a stream to another sample rate, with a low-pass windowed sinc filter that prevents aliasing. */
export function createResampler(from: number, to: number): Resampler {
  if (from === to) return { push: (samples) => samples, end: () => new Float32Array() }
  const narrowing = Math.min(1, to / from)
  const reach = Math.ceil(ZERO_CROSSINGS / narrowing) // samples used on either side
  const phases = Math.min(to / greatestCommonDivisor(from, to), MAX_PHASES)
  const kernels = Array.from({ length: phases + 1 }, (_, phase) =>
    sincKernel(phase / phases, reach, narrowing * ROLL_OFF),
  )
  let buffered: Float32Array = new Float32Array(reach - 1) // silence before the beginning
  let bufferedFrom = 1 - reach // the position of its first sample in the stream
  let produced = 0

  const push = (samples: Float32Array): Float32Array => {
    const input = joinSamples([buffered, samples])
    const end = bufferedFrom + input.length
    const ready = Math.max(0, Math.ceil(((end - reach) * to) / from) - produced)
    const output = new Float32Array(ready)
    for (let index = 0; index < ready; index++) {
      const position = ((produced + index) * from) / to
      const whole = Math.floor(position)
      const kernel = kernels[Math.round((position - whole) * phases)] as Float32Array
      const first = whole - reach + 1 - bufferedFrom
      let sum = 0
      for (let tap = 0; tap < kernel.length; tap++)
        sum += (input[first + tap] as number) * (kernel[tap] as number)
      output[index] = sum
    }
    produced += ready
    const needed = Math.floor((produced * from) / to) - reach + 1
    buffered = input.slice(Math.max(0, needed - bufferedFrom))
    bufferedFrom = end - buffered.length
    return output
  }
  return { push, end: () => push(new Float32Array(reach)) }
}

function sincKernel(fraction: number, reach: number, cutoff: number): Float32Array {
  const kernel = Float32Array.from({ length: 2 * reach }, (_, tap) => {
    const distance = tap - reach + 1 - fraction
    const angle = Math.PI * distance * cutoff
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / reach)
    return angle === 0 ? 1 : (Math.sin(angle) / angle) * window
  })
  const gain = kernel.reduce((sum, weight) => sum + weight, 0)
  return kernel.map((weight) => weight / gain)
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
