import { defineConfig } from 'vite'

export default defineConfig({
  root: 'src/page',
  build: { outDir: '../../dist/page', emptyOutDir: true, target: 'es2022' },
})
