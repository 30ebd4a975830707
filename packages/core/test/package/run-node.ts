import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Runs a module in plain Node, without this project's loaders; returns its output. */
export async function runNode(module: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', module])
  return stdout
}
