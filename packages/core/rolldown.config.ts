import { defineConfig } from 'rolldown'

// One file, because reading many costs a cold start.
export default defineConfig({
  input: 'src/index.ts',
  platform: 'neutral',
  treeshake: { moduleSideEffects: false },
  output: { file: 'dist/index.js', format: 'esm', sourcemap: true },
})
