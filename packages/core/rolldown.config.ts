import { readFileSync } from 'node:fs'
import { defineConfig } from 'rolldown'

const zodLicence = readFileSync(new URL('node_modules/zod/LICENSE', import.meta.url), 'utf8')

// One file with the little of zod that is used inside: reading zod file by file costs a cold start 45 ms.
export default defineConfig({
  input: 'src/index.ts',
  platform: 'neutral',
  resolve: { mainFields: ['module', 'main'], conditionNames: ['import', 'default'] },
  treeshake: { moduleSideEffects: false },
  output: {
    file: 'dist/index.js',
    format: 'esm',
    sourcemap: true,
    banner: `/* Holds parts of zod.\n${zodLicence.trim()}\n*/`,
  },
})
