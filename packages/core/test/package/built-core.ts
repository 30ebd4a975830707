import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown, type OutputChunk } from 'rolldown'
import { onTestFinished } from 'vitest'
import config from '../../rolldown.config.ts'

export interface BuiltCore {
  /** Path of the bundle. */
  readonly file: string
  readonly code: string
  readonly chunk: OutputChunk
}

/** Builds the package as for publishing, into a temporary folder. */
export async function buildCore(): Promise<BuiltCore> {
  const folder = await mkdtemp(join(tmpdir(), 'core-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { output: outputOptions, ...inputOptions } = Array.isArray(config) ? config[0]! : config
  const bundle = await rolldown({ ...inputOptions, cwd: fileURLToPath(new URL('../..', import.meta.url)) })
  const file = join(folder, 'core.mjs')
  const { output } = await bundle.write({ ...[outputOptions].flat()[0], file })
  await bundle.close()
  return { file, code: await readFile(file, 'utf8'), chunk: output[0] }
}
