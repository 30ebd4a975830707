import { defineConfig } from 'rolldown'
import { thirdParty } from '../../third-party.ts'

// All code in one module, which the entries re-export, because reading many costs a cold start. The schema of a token response
// is in the entry `protocol` alone, with the parts of zod that it uses: loading that package takes longer than all of core.
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
    codeSplitting: { groups: [{ name: 'core', test: /\/src\/\w+\/(?!token-response-schema)/ }] },
  },
})
