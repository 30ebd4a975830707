import { defineConfig } from 'rolldown'

// One file with the little of zod that is used inside: reading zod file by file costs a cold start 45 ms.
export default defineConfig({
  input: 'src/index.ts',
  platform: 'neutral',
  resolve: { mainFields: ['module', 'main'], conditionNames: ['import', 'default'] },
  treeshake: { moduleSideEffects: false },
  output: { file: 'dist/index.js', format: 'esm', sourcemap: true, legalComments: 'inline' },
})
