import { defineConfig } from 'rolldown'
import { thirdParty } from '../../third-party.ts'

// All code in one module, which the entries re-export, because reading many costs a cold start. It contains the parts of zod
// that it uses: loading the package takes longer than all of core.
export default defineConfig({
  input: ['index', 'adapter', 'protocol', 'testing'].map((entry) => `src/${entry}.ts`),
  platform: 'neutral',
  treeshake: { moduleSideEffects: false },
  plugins: [thirdParty],
  output: {
    dir: 'dist',
    format: 'esm',
    sourcemap: true,
    chunkFileNames: 'chunks/[name].js',
    minifyInternalExports: false,
    codeSplitting: { groups: [{ name: 'core', test: /\/(?:src\/\w+|node_modules)\// }] },
  },
})
