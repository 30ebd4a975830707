import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { defineConfig } from 'vitest/config'
import './tools/design/generate.ts'

// Processes that the tests start load each module compiled, and TypeScript without types, from their second start on.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'tokenwell-compile-cache')

// Workspace packages resolve to their TypeScript sources: tests need no build.
// (`import` and `require` are added by the resolver itself; named here they would hold for both kinds of import.)
const conditions = ['@tokenwell/source', 'module', 'node', 'development|production']

/** The script of a package that runs, and the folder of the package: `pnpm test` adds up these reports. */
const { npm_lifecycle_event: script = '', npm_package_json: manifest = '' } = process.env
const report = /^test(?::integration)?$/.test(script) && {
  outputFile: join(dirname(manifest), `test-results/${script.replace(':', '-')}.json`),
}

export const shared = {
  setupFiles: [
    'packages/internal-testing/src/fail-on-console.ts',
    'packages/internal-testing/src/fail-on-globals.ts',
  ],
  // Also in watch mode. `pnpm test` runs one package at a time, with a worker for each processor.
  maxWorkers: '100%',
  // The tests leave nothing behind in their process: files that share one load their modules once.
  isolate: false,
  // Far longer than any takes, also on a machine that is ten times as slow.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 20_000 } },
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    ...shared,
    reporters: report ? ['default', ['json', report]] : ['default'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{packages,apps}/*/test/**/*.test.ts', 'tools/{design,release}/test/*.test.ts'],
          exclude: ['**/node_modules/**', '**/*.integration.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['{packages,apps}/*/test/**/*.integration.test.ts'],
          globalSetup: ['packages/internal-testing/src/start-shared-servers.ts'],
        },
      },
    ],
  },
})
