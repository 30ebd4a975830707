import { DIMENSIONS } from '../features/feature-frames.ts'
import type { DigitTemplates } from './digit-templates.ts'

export interface DecodedWord {
  readonly template: number
  /** First frame, and the one after the last. */
  readonly from: number
  readonly to: number
  /** Mean distance to the template's frames, along the best path. */
  readonly distance: number
  /** Mean distance to the nearest frame of any template: the lower bound for every path. */
  readonly nearest: number
}

export interface Utterance {
  /** Weighted feature frames. */
  readonly frames: Float32Array
  readonly energy: Float32Array
  readonly silenceBelow: number
}

const SILENCE = -1
const STAY_COST = 0.15 // of repeating a frame of a template
const SKIP_COST = 0.15 // of leaving one out
const MAX_MISSING_START = 0.1 // the part of a template that may be missing at its start
const MAX_MISSING_END = 0.2 // and at its end: words run into each other
const SILENCE_COST = 0.35
const SILENCE_COST_PER_DB = 0.25

/**
 * Finds the sequence of words and silences that fits all frames best, in one pass: dynamic time warping against every
 * template at once, where a word may start in any frame in which another ended (Ney, 1984).
 */
export function decodeWords(utterance: Utterance, { frames: states, starts }: DigitTemplates): DecodedWord[] {
  const { frames, energy, silenceBelow } = utterance
  const length = energy.length
  const stateCount = states.length / DIMENSIONS
  const distances = new Float64Array(stateCount)
  const costs = new Float64Array(stateCount).fill(Infinity) // of the best path to this state
  const entered = new Int32Array(stateCount) // the frame in which that path started its word
  const endCosts = new Float64Array(length + 1) // of the best path on which a word ends before this frame
  const endTemplates = new Int32Array(length + 1)
  const endStarts = new Int32Array(length + 1)
  const nearest = new Float64Array(length)
  let silenceCost = Infinity
  let silenceStart = 0

  for (let time = 0; time < length; time++) {
    nearest[time] = measure(frames, time, states, distances)
    const entry = endCosts[time] as number
    let best = Infinity
    let bestTemplate = SILENCE
    let bestStart = 0
    for (let template = 0; template + 1 < starts.length; template++) {
      const first = starts[template] as number
      const size = (starts[template + 1] as number) - first
      const lastEntry = Math.floor(size * MAX_MISSING_START)
      for (let index = size - 1; index >= 0; index--) {
        const state = first + index
        let cost = (costs[state] as number) + STAY_COST
        let start = entered[state] as number
        if (index > 0 && (costs[state - 1] as number) < cost) {
          cost = costs[state - 1] as number
          start = entered[state - 1] as number
        }
        if (index > 1 && (costs[state - 2] as number) + SKIP_COST < cost) {
          cost = (costs[state - 2] as number) + SKIP_COST
          start = entered[state - 2] as number
        }
        if (index <= Math.max(1, lastEntry) && entry + SKIP_COST * index < cost) {
          cost = entry + SKIP_COST * index
          start = time
        }
        costs[state] = cost + (distances[state] as number)
        entered[state] = start
      }
      for (let missing = 0; missing <= size * MAX_MISSING_END; missing++) {
        const state = first + size - 1 - missing
        const cost = (costs[state] as number) + SKIP_COST * missing
        if (cost < best) {
          best = cost
          bestTemplate = template
          bestStart = entered[state] as number
        }
      }
    }
    if (entry <= silenceCost) {
      silenceCost = entry
      silenceStart = time
    }
    silenceCost += SILENCE_COST + SILENCE_COST_PER_DB * Math.max(0, (energy[time] as number) - silenceBelow)
    const silent = silenceCost < best
    endCosts[time + 1] = silent ? silenceCost : best
    endTemplates[time + 1] = silent ? SILENCE : bestTemplate
    endStarts[time + 1] = silent ? silenceStart : bestStart
  }

  const words: DecodedWord[] = []
  for (let to = length; to > 0;) {
    const from = endStarts[to] as number
    const template = endTemplates[to] as number
    if (template !== SILENCE) {
      const distance = ((endCosts[to] as number) - (endCosts[from] as number)) / (to - from)
      words.unshift({ template, from, to, distance, nearest: mean(nearest.subarray(from, to)) })
    }
    to = from
  }
  return words
}

/** Computes the distance of one frame to every state and returns the smallest. */
function measure(frames: Float32Array, time: number, states: Float32Array, distances: Float64Array): number {
  const frame = frames.subarray(time * DIMENSIONS, (time + 1) * DIMENSIONS)
  let smallest = Infinity
  for (let state = 0, position = 0; state < distances.length; state++) {
    let distance = 0
    for (let index = 0; index < frame.length; index++, position++) {
      const difference = (frame[index] as number) - (states[position] as number)
      distance += difference * difference
    }
    distances[state] = distance
    if (distance < smallest) smallest = distance
  }
  return smallest
}

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
