import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { projectFolder, readManifest } from '../public-packages.ts'

interface Step {
  readonly run?: string
  readonly uses?: string
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>
  readonly needs?: string | readonly string[]
  readonly uses?: string
  readonly steps?: readonly Step[]
}

interface Workflow {
  readonly concurrency?: { readonly group: string }
  readonly on: Readonly<Record<string, unknown>>
  readonly jobs: Readonly<Record<string, Job>>
}

/** What GitHub runs exists here, and nothing is published before all checks and tests of the same commit have passed. */
export function checkWorkflows(project = projectFolder): string[] {
  const read = (file: string) => parse(readFileSync(join(project, file), 'utf8')) as Workflow
  const files = globSync('.github/workflows/*.yml', { cwd: project })
  const { scripts = {} } = readManifest(project)
  const problems = files.flatMap((file) => {
    const jobs = Object.values(read(file).jobs)
    const steps = jobs.flatMap((job) => job.steps ?? [])
    const commands = steps.flatMap(({ run = '' }) =>
      Array.from(run.matchAll(/\bpnpm (?:run )?([a-z][\w:-]*)/g), ([, script]) => script!),
    )
    const missing = commands.filter((script) => script !== 'install' && !Object.hasOwn(scripts, script))
    const loose = [...steps, ...jobs].flatMap(({ uses = './' }) =>
      uses.startsWith('./') || /@[0-9a-f]{40}$/.test(uses) ? [] : uses,
    )
    return [
      ...missing.map((script) => `${file} runs \`pnpm ${script}\`, which is not a script of package.json`),
      ...loose.map((uses) => `${file} must name a commit of ${uses}`),
    ]
  })
  const must = (condition: boolean, sentence: string) => void (condition || problems.push(sentence))

  const ci = read('.github/workflows/ci.yml')
  const release = read('.github/workflows/release.yml')
  const { jobs } = release
  const runs = (job: string, command: RegExp) =>
    (ci.jobs[job]?.steps ?? []).some(({ run = '' }) => command.test(run))
  const before = (job: string): string[] =>
    [jobs[job]?.needs ?? []].flat().flatMap((need) => [need, ...before(need)])
  must('workflow_call' in ci.on, 'ci.yml must be one that release.yml can call')
  must(jobs['ci']?.uses === './.github/workflows/ci.yml', 'release.yml must run ci.yml in its job "ci"')
  must(before('publish').includes('ci'), 'the job "publish" of release.yml must need "ci"')
  must(
    release.concurrency === undefined && /github\.run_id/.test(ci.concurrency?.group ?? 'github.run_id'),
    'a run of release.yml must not be cancelled by the next one: it may have a version to publish',
  )
  must(before('version').includes('publish'), 'the job "version" of release.yml must come after "publish"')
  for (const [name, job] of Object.entries(jobs))
    if (job.permissions?.['id-token'] === 'write' && job.steps?.some(({ run }) => run !== undefined))
      problems.push(`the job "${name}" of release.yml may publish, so it must not run anything of its own`)
  const setup = readFileSync(join(project, '.github/actions/setup/action.yml'), 'utf8')
  must(
    /default: '\d+\.\d+\.\d+'/.test(setup) && /--global pnpm@\d+\.\d+\.\d+$/m.test(setup),
    '.github/actions/setup must name exact versions of Node and pnpm: a release is built with them',
  )
  must(runs('check', /^\.ci\/run$/), 'the job "check" of ci.yml must run .ci/run')
  must(runs('test', /^pnpm test$/), 'the job "test" of ci.yml must run all tests')
  must(
    runs('compatibility', /^pnpm check:compatibility /),
    'the job "compatibility" of ci.yml must run its check',
  )
  must(runs('pull-request', /^pnpm check:changesets/), 'ci.yml must check the changesets')
  must(runs('pull-request', /check-subjects/), 'ci.yml must check the subjects of commits')
  return problems
}
