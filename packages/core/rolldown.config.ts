import { defineConfig } from 'rolldown'

// All code in one module, which the entries re-export, because reading many costs a cold start.
export default defineConfig({
  input: ['index', 'adapter', 'protocol', 'testing'].map((entry) => `src/${entry}.ts`),
  platform: 'neutral',
  treeshake: { moduleSideEffects: false },
  output: {
    dir: 'dist',
    format: 'esm',
    sourcemap: true,
    chunkFileNames: 'chunks/[name].js',
    minifyInternalExports: false,
    codeSplitting: { groups: [{ name: 'core', test: /\/src\/\w+\// }] },
  },
})
