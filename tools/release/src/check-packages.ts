import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Listr } from 'listr2'
import { checkApiReports } from './checks/api-report.ts'
import { checkImports } from './checks/imports.ts'
import { checkMigrations } from './checks/migrations.ts'
import { checkEntries, checkManifest } from './checks/manifest.ts'
import {
  checkModuleTypes,
  packPackage,
  type PackedPackage,
  checkWithPublint,
  checkPackedFiles,
  checkTypeImports,
} from './checks/packed-package.ts'
import { checkLicences, checkUnused } from './checks/project.ts'
import { checkThirdParty } from './checks/third-party.ts'
import { checkWorkflows } from './checks/workflows.ts'
import { publicPackages } from './public-packages.ts'

type Problems = string[] | Promise<string[]>

const folder = await mkdtemp(join(tmpdir(), 'tokenwell-packed-'))
const packed: PackedPackage[] = []

const check = (title: string, find: () => Problems) => ({
  title,
  task: async () => {
    const problems = await find()
    if (problems.length > 0) throw new Error(problems.join('\n'))
  },
})
const checkEach = (title: string, find: (one: PackedPackage) => Problems) =>
  check(title, async () => {
    const found = await Promise.all(
      packed.map(async (one) => (await find(one)).map((problem) => `${one.manifest.name}: ${problem}`)),
    )
    return found.flat()
  })

const all = [
  check('workflows', () => checkWorkflows()),
  check('import cycles and directions', checkImports),
  check('migrations that have been published', checkMigrations),
  check('unused files, exports and dependencies (knip)', checkUnused),
  check('licences of production dependencies', checkLicences),
  {
    title: 'packing',
    task: async () => {
      for (const one of publicPackages()) packed.push(await packPackage(one, folder))
    },
  },
  checkEach('package.json of each package', checkManifest),
  checkEach('entries of each package', checkEntries),
  checkEach('files packed', checkPackedFiles),
  checkEach('publint', checkWithPublint),
  checkEach('are the types wrong', checkModuleTypes),
  checkEach('imports of the types', checkTypeImports),
  checkEach('API reports', (one) => checkApiReports(one)),
  checkEach('bundled packages', (one) => checkThirdParty(one)),
]
const list = new Listr(all, {
  exitOnError: false,
  collectErrors: true,
  rendererOptions: { collapseErrors: false },
})
try {
  await list.run()
} finally {
  await rm(folder, { recursive: true })
}
if (list.errors?.length) process.exitCode = 1
