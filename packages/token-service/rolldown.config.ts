import { readFileSync } from 'node:fs'
import { defineConfig } from 'rolldown'
import { thirdParty } from '../../third-party.ts'

const { dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
  'dependencies' | 'peerDependencies',
  Record<string, string>
>

// Few files, because reading many costs a cold start. They contain the parts of development dependencies that they use:
// the packages themselves are ten times larger.
export default defineConfig({
  input: {
    index: 'src/index.ts',
    'command/tokenwell-service': 'src/command/tokenwell-service.ts',
  },
  platform: 'node',
  external: Object.keys({ ...dependencies, ...peerDependencies }).map((name) => new RegExp(`^${name}(/|$)`)),
  plugins: [thirdParty],
  output: {
    dir: 'dist',
    format: 'esm',
    chunkFileNames: 'chunks/[name].js',
    comments: { jsdoc: false },
  },
})
