import { defineConfig } from 'vite'

export default defineConfig({
  root: 'src/page',
  build: { outDir: '../../dist/page', emptyOutDir: true, target: 'es2022' },
  // The scan for dependencies does not read the TypeScript configuration.
  optimizeDeps: { rolldownOptions: { transform: { jsx: { importSource: 'preact' } } } },
})
