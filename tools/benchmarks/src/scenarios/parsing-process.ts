import { parseTokenResponse } from '@tokenwell/core/protocol'
import {
  largeBodies,
  randomResponse,
} from '../../../../packages/core/test/protocol/parse-token-response/random-response.ts'
import { median } from '../method/figures.ts'
import { report } from '../method/run-process.ts'

// Reads random and large token responses. The time of each is its fastest of several rounds.

const count = 5_000
const rounds = 20
const mebibyte = 1024 * 1024

function parse(status: number, headers: Record<string, string>, body: string): void {
  try {
    parseTokenResponse(status, headers, body)
  } catch {
    // Most of them are errors.
  }
}

const wallNs = (): number => performance.now() * 1e6
/** Other programs interrupt what takes milliseconds: their time does not count. */
const processorNs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) * 1e3
}

/** Nanoseconds for each. */
function fastest(works: readonly (() => void)[], now: () => number): number[] {
  const times = works.map(() => Infinity)
  for (let round = 0; round < rounds; round++) {
    for (const [index, work] of works.entries()) {
      const start = now()
      work()
      times[index] = Math.min(times[index]!, now() - start)
    }
  }
  return times
}

const random = fastest(
  Array.from({ length: count }, (_, seed) => {
    const { status, headers, body } = randomResponse(seed)
    return () => parse(status, headers, body)
  }),
  wallNs,
)
const large = (size: number): number[] =>
  fastest(
    largeBodies(size).flatMap((body) => [200, 401].map((status) => () => parse(status, {}, body))),
    processorNs,
  )
const [half, whole] = [large(mebibyte / 2), large(mebibyte)]
const sum = (times: readonly number[]): number => times.reduce((total, ns) => total + ns)
report({
  count,
  large: whole.length,
  medianNs: median(random),
  slowestNs: Math.max(...random),
  halfNs: Math.max(...half),
  wholeNs: Math.max(...whole),
  growth: sum(whole) / sum(half),
})
