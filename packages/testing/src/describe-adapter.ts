import { describe } from 'vitest'
import { describeBodies } from './adapter-bodies.ts'
import { describeOrigins } from './adapter-origins.ts'
import { describeRefusals } from './adapter-refusals.ts'
import { describeSecrets } from './adapter-secrets.ts'
import type { AdapterUnderTest } from './adapter-under-test.ts'

/** What every adapter does, over real HTTP, compared with what its client does without it. */
export function describeAdapter(adapter: AdapterUnderTest): void {
  describe(`${adapter.name} with tokens attached`, () => {
    describeBodies(adapter)
    describeOrigins(adapter)
    describeRefusals(adapter)
    describeSecrets(adapter)
  })
}
