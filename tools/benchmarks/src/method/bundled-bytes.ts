import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

/** Size of a bundle of this file, minified and gzipped. */
export async function bundledBytes(input: string, external: readonly (string | RegExp)[]): Promise<number> {
  const bundle = await rolldown({ input, external: [...external], platform: 'node', logLevel: 'silent' })
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false })
  return gzipSync(output[0].code, { level: 9 }).length
}
