import { defineConfig } from 'vitest/config'

// Workspace packages resolve to their TypeScript sources: tests need no build.
const conditions = ['@tokenwell/source', 'module', 'node', 'development|production', 'import', 'default']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['{packages,apps}/*/test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    reporters: process.env['CI'] ? ['default', ['json', { outputFile: '.ci/report.json' }]] : ['default'],
  },
})
