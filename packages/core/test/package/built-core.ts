import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { rolldown, type OutputChunk } from 'rolldown'
import { onTestFinished } from 'vitest'
import config from '../../rolldown.config.ts'

export interface BuiltCore {
  /** Path of the main entry. */
  readonly file: string
  readonly chunks: readonly OutputChunk[]
}

/** Builds the package as for publishing, into a temporary folder. */
export async function buildCore(): Promise<BuiltCore> {
  const dir = await mkdtemp(join(tmpdir(), 'core-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  await writeFile(join(dir, 'package.json'), '{ "type": "module", "sideEffects": false }')
  const { output: outputOptions, ...inputOptions } = Array.isArray(config) ? config[0]! : config
  const bundle = await rolldown({ ...inputOptions, cwd: fileURLToPath(new URL('../..', import.meta.url)) })
  const { output } = await bundle.write({ ...[outputOptions].flat()[0], dir })
  await bundle.close()
  const chunks = output.filter((part) => part.type === 'chunk')
  return { file: join(dir, 'index.js'), chunks }
}

/** Runs a module in plain Node, without this project's loaders; returns its output. */
export async function runNode(module: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', module])
  return stdout
}
