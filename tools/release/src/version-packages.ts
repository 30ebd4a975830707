import { getReleasePlan } from '@changesets/get-release-plan'
import { writeChangeset } from '@changesets/write'
import { breakingDependents } from './breaking-dependents.ts'
import { projectFolder, publicPackages } from './public-packages.ts'
import { run } from '../../run-process.ts'

const { releases } = await getReleasePlan(projectFolder)
for (const { name, type, because } of breakingDependents(releases, publicPackages())) {
  await writeChangeset(
    { summary: `Requires the new ${because}. Update both together.`, releases: [{ name, type }] },
    projectFolder,
  )
}
process.stdout.write(await run('pnpm', ['changeset', 'version'], { folder: projectFolder }))
