// `pnpm --dir tools/release run plan BRANCH FOLDER`: decides what the release workflow does with this commit. Writes
// FOLDER/publish-plan.json, from which changesets packs and publishes, and the outputs `publish` and `version` of its step.
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readChangesets } from '@changesets/read'
import { run, runToEnd } from '../../run-process.ts'
import { projectFolder, publicPackages } from './public-packages.ts'
import { planRelease, type PlannedPackage } from './release-plan.ts'

const [branch = '', folder = ''] = process.argv.slice(2)
const inProject = { folder: projectFolder }
const file = join(folder, 'publish-plan.json')
const names = publicPackages().map(({ manifest }) => manifest.name)

const { publish, version } = planRelease({
  branch,
  plan: await publishPlan(),
  hasChangesets: (await readChangesets(projectFolder)).some(({ releases }) => releases.length > 0),
  newPackages: await filterNames(async (name) => (await view(name, 'name')) === undefined),
  foreignTags: await foreignTags(),
  latest: await view('@tokenwell/core', 'dist-tags.latest'),
})
const packages = publish.flat()
mkdirSync(folder, { recursive: true })
writeFileSync(file, JSON.stringify({ version: 1, plan: publish }))
const outputs = process.env['GITHUB_OUTPUT']
if (outputs) appendFileSync(outputs, `publish=${packages.length > 0}\nversion=${version}\n`)
for (const { name, version, tag } of packages) process.stdout.write(`publish ${name}@${version} as ${tag}\n`)
process.stdout.write(version ? 'open or update "Version Packages"\n' : 'no changesets\n')

async function publishPlan(): Promise<PlannedPackage[][]> {
  const temporary = mkdtempSync(join(tmpdir(), 'tokenwell-plan-'))
  const output = join(temporary, 'plan.json')
  try {
    await run('pnpm', ['exec', 'changeset', 'publish-plan', '--output', output], inProject)
    return (JSON.parse(readFileSync(output, 'utf8')) as { readonly plan: PlannedPackage[][] }).plan
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

async function filterNames(keep: (name: string) => Promise<boolean>): Promise<string[]> {
  const kept = await Promise.all(names.map(keep))
  return names.filter((_, at) => kept[at])
}

/** A field of the registry's document, or undefined if it does not have the package. */
async function view(name: string, field: string): Promise<string | undefined> {
  const { code, stdout, stderr } = await runToEnd('npm', ['view', name, field, '--json'], inProject)
  if (code === 0) return (JSON.parse(stdout || '""') as string) || undefined
  if (/\bE404\b/.test(stdout + stderr)) return undefined
  throw new Error(`npm could not read ${field} of ${name}:\n${stderr}`)
}

/** Tags of our versions at commits that are not behind this one. The registry has such a version with other contents. */
async function foreignTags(): Promise<string[]> {
  const tags = publicPackages().map(({ manifest: { name, version } }) => `${name}@${version}`)
  const isForeign = async (tag: string) => {
    const commit = `refs/tags/${tag}^{commit}`
    const exists = await runToEnd('git', ['rev-parse', '--verify', '--quiet', commit], inProject)
    if (exists.code !== 0) return false
    return (await runToEnd('git', ['merge-base', '--is-ancestor', commit, 'HEAD'], inProject)).code !== 0
  }
  const foreign = await Promise.all(tags.map(isForeign))
  return tags.filter((_, at) => foreign[at])
}
