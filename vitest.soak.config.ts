import { defineConfig } from 'vitest/config'
import base, { shared } from './vitest.config.ts'

/** Tests that also have a long form. */
const longForms = [
  'packages/{axios-interceptor/test/attach-tokens,internal-testing/test/token-fetch,ky-hook/test/token-hooks}.integration.test.ts',
  'packages/cli/test/proxy/odd-messages.integration.test.ts',
  'packages/token-service/test/portal/{log-in,random-acts,in-chromium/*}.integration.test.ts',
  'packages/token-service/test/storage/instances.integration.test.ts',
  'packages/token-stores/test/redis/foreign-entries.integration.test.ts',
]

/** Runs that last longer than a minute: `pnpm soak [filter]`. */
export default defineConfig({
  ...base,
  test: {
    ...shared,
    globalSetup: ['packages/internal-testing/src/start-shared-servers.ts'],
    include: ['{packages,apps}/*/test/**/*.soak.ts', ...longForms],
    testTimeout: 20 * 60_000,
    env: { TOKENWELL_SOAK: '1' },
    fileParallelism: false,
  },
})
