import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

/** Runs that last longer than a minute: `pnpm soak [filter]`. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['{packages,apps}/*/test/**/*.soak.ts'],
    testTimeout: 20 * 60_000,
    // Tests that a soak imports run their long form.
    env: { TOKENWELL_SOAK: '1' },
    fileParallelism: false,
  },
})
