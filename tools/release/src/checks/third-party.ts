import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { projectFolder, type PublicPackage } from '../public-packages.ts'

/** Where a package lists the code that it bundles: its versions are reviewed like code, and a change needs a changeset. */
export const thirdPartyFile = 'etc/third-party.cdx.json'

/** Compares what the build of a package has bundled with the list in `etc/`, or writes that list again. */
export function checkThirdParty({ folder }: PublicPackage, update = false): string[] {
  const built = join(folder, 'dist/third-party.cdx.json')
  const listed = join(folder, thirdPartyFile)
  const text = existsSync(built) ? readFileSync(built, 'utf8') : undefined
  const known = existsSync(listed) ? readFileSync(listed, 'utf8') : undefined
  if (text === known) return []
  if (update && text !== undefined) {
    mkdirSync(join(folder, 'etc'), { recursive: true })
    writeFileSync(listed, text)
    return []
  }
  return [
    `${relative(projectFolder, listed)} is not what the build has bundled: run \`pnpm --dir tools/release run update\`, and add a changeset`,
  ]
}
