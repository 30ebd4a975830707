import { join } from 'node:path'
import { projectFolder } from '../public-packages.ts'
import { run } from '../run.ts'

/** Unused files, exports and dependencies. */
export async function checkUnused(): Promise<string[]> {
  const knip = join(projectFolder, 'tools/release/node_modules/.bin/knip')
  const config = join(projectFolder, 'tools/release/knip.json')
  await run(knip, ['--config', config, '--no-progress'], { folder: projectFolder })
  return []
}
