// `pnpm run version [--snapshot NAME]`: sets versions and writes changelogs, as the changesets say.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { run } from '../../run-process.ts'
import { breakingDependents, type Release } from './breaking-dependents.ts'
import { projectFolder, publicPackages } from './public-packages.ts'

const folder = mkdtempSync(join(tmpdir(), 'tokenwell-version-'))
const changeset = (...args: string[]) =>
  run('pnpm', ['exec', 'changeset', ...args], { folder: projectFolder })

const plan = join(folder, 'plan.json')
await changeset('status', '--output', plan)
const { releases } = JSON.parse(readFileSync(plan, 'utf8')) as { readonly releases: readonly Release[] }
for (const { name, type, because } of breakingDependents(releases, publicPackages())) {
  const file = join(projectFolder, '.changeset', `${basename(name)}-requires-${basename(because)}.md`)
  writeFileSync(file, `---\n'${name}': ${type}\n---\n\nRequires the new ${because}. Update both together.\n`)
}
rmSync(folder, { recursive: true })
process.stdout.write(await changeset('version', ...process.argv.slice(2)))
