import { join } from 'node:path'
import { projectFolder } from '../public-packages.ts'
import { run } from '../../../run-process.ts'

const allowed = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
  'Zlib',
]

/** Production dependencies must be under a licence that everybody may use. */
export async function checkLicences(): Promise<string[]> {
  const listed = await run('pnpm', ['--recursive', 'licenses', 'list', '--prod', '--json'], {
    folder: projectFolder,
  })
  const byLicence = JSON.parse(listed) as Record<
    string,
    { readonly name: string; readonly versions: string[] }[]
  >
  return Object.entries(byLicence)
    .filter(([licence]) => !isAllowed(licence))
    .flatMap(([licence, packages]) =>
      packages.map(
        ({ name, versions }) => `${name} ${versions.join(', ')} is under the licence "${licence}"`,
      ),
    )
}

function isAllowed(expression: string): boolean {
  const alternatives = expression.replaceAll(/[()]/g, '').split(' OR ')
  return alternatives.some((licences) =>
    licences.split(' AND ').every((licence) => allowed.includes(licence.trim())),
  )
}

/** Unused files, exports and dependencies. */
export async function checkUnused(): Promise<string[]> {
  const knip = join(projectFolder, 'tools/release/node_modules/.bin/knip')
  const config = join(projectFolder, 'tools/release/knip.json')
  await run(knip, ['--config', config, '--no-progress'], { folder: projectFolder })
  return []
}
