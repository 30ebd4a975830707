import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// Processes that the tests start load each module compiled, and TypeScript without types, from their second start on.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'tokenwell-compile-cache')

// Workspace packages resolve to their TypeScript sources: tests need no build.
// (`import` and `require` are added by the resolver itself; named here they would hold for both kinds of import.)
const conditions = ['@tokenwell/source', 'module', 'node', 'development|production']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['{packages,apps}/*/test/**/*.test.ts', 'tools/design/test/*.test.ts'],
    globalSetup: ['packages/internal-testing/src/start-shared-servers.ts'],
    setupFiles: [
      'packages/internal-testing/src/fail-on-console.ts',
      'packages/internal-testing/src/fail-on-globals.ts',
    ],
    // Also in watch mode. With more than there are processors, the processes that tests start fall behind.
    maxWorkers: '100%',
    // The tests leave nothing behind in their process: files that share one load their modules once.
    isolate: false,
    // Far longer than any takes, for busy machines.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    reporters: process.env['CI'] ? ['default', ['json', { outputFile: '.ci/report.json' }]] : ['default'],
  },
})
