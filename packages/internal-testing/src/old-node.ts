import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'

const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/bin', '/usr/bin']

/** A Node 20 of this machine, if there is one: packages that require a newer one say so. */
export const oldNode = [...new Set(folders)]
  .map((folder) => join(folder, 'node'))
  .find((file) => spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout?.startsWith('v20.'))
