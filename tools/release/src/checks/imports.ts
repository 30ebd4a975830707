import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IFlattenedRuleSet, IRegularForbiddenRuleType } from 'dependency-cruiser'
import { withArchitecture } from '../imports/architecture-diagram.ts'
import { allowedImports, coreFolders } from '../imports/directions.ts'
import { entryFiles, readImports, sourceFolders } from '../imports/read-imports.ts'
import { projectFolder } from '../public-packages.ts'

/** The file with the diagram of the architecture. */
export const contributing = join(projectFolder, 'CONTRIBUTING.md')

/** Import cycles, and imports against the direction between core's folders and between packages; a diagram that is out of date. */
export async function checkImports(project = projectFolder): Promise<string[]> {
  const { modules, summary } = await readImports(rules(project), project)
  const misplaced = modules
    .map(({ source }) => source)
    .filter((file) => file.startsWith('packages/core/src/') && !isInCoreFolder(file))
    .map((file) => `${file} is in none of core's folders (${coreFolders.join(', ')})`)
  const violations = summary.violations.map(({ rule, from, to, cycle }) =>
    cycle
      ? `${rule.name}: ${[from, ...cycle.map(({ name }) => name)].join(' → ')}`
      : `${rule.name}: ${from} → ${to}`,
  )
  const text = readFileSync(contributing, 'utf8')
  const outdated =
    text === withArchitecture(text, modules) ? [] : ['CONTRIBUTING.md: run `pnpm architecture:update`']
  return [...misplaced, ...violations, ...outdated]
}

function isInCoreFolder(file: string): boolean {
  const [folder, ...rest] = file.slice('packages/core/src/'.length).split('/')
  return folder === 'index.ts' || (rest.length > 0 && (coreFolders as readonly string[]).includes(folder!))
}

function rules(project: string): IFlattenedRuleSet {
  return {
    forbidden: [
      rule('import cycle', {}, { circular: true }),
      rule('import that cannot be resolved', {}, { couldNotResolve: true }),
      ...coreFolders.map((folder, at) =>
        rule(
          `import upwards out of core's ${folder}/`,
          { path: `^packages/core/src/${folder}/` },
          { path: `^packages/core/src/(${[...coreFolders.slice(0, at), 'index\\.ts'].join('|')})` },
        ),
      ),
      ...sourceFolders(project).map((folder) => importsOf(folder)),
      rule(
        "import of another package's internals",
        { path: '^((?:packages|apps)/[^/]+)/' },
        { path: '^(packages|apps)/', pathNot: ['^$1/', ...entryFiles(project).map((file) => `^${file}$`)] },
      ),
    ],
  }
}

/** What a workspace may import from others. */
function importsOf(folder: string): IRegularForbiddenRuleType {
  const allowed = [folder, ...(allowedImports[folder] ?? [])]
  return rule(
    `import that ${folder} may not have`,
    { path: `^${folder}/` },
    { path: '^(packages|apps)/', pathNot: allowed.map((each) => `^${each}/`) },
  )
}

function rule(
  name: string,
  from: IRegularForbiddenRuleType['from'],
  to: IRegularForbiddenRuleType['to'],
): IRegularForbiddenRuleType {
  return { name, severity: 'error', from, to }
}
