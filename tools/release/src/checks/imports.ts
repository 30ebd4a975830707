import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IFlattenedRuleSet, IRegularForbiddenRuleType } from 'dependency-cruiser'
import { parseSync } from 'oxc-parser'
import { withArchitecture } from '../imports/architecture-diagram.ts'
import { allowedImports, rooms } from '../imports/directions.ts'
import { entryFiles, readImports, sourceFolders } from '../imports/read-imports.ts'
import { projectFolder } from '../public-packages.ts'

/** The file with the diagram of the architecture. */
export const contributing = join(projectFolder, 'CONTRIBUTING.md')

/**
 * Import cycles, imports against the direction between packages or between the rooms of one, imports of a computed
 * module; a diagram that is out of date.
 */
export async function checkImports(project = projectFolder): Promise<string[]> {
  const { modules, summary } = await readImports(rules(project), project)
  const sources = modules.map(({ source }) => source)
  const entries = entryFiles(project)
  const misplaced = Object.entries(rooms).flatMap(([folder, names]) =>
    sources
      .filter((file) => file.startsWith(`${folder}/src/`) && !entries.includes(file))
      .filter((file) => !names.some((name) => file.startsWith(`${folder}/src/${name}/`)))
      .map((file) => `${file} is in none of the rooms of ${folder} (${names.join(', ')})`),
  )
  const violations = summary.violations.map(({ rule, from, to, cycle }) =>
    cycle
      ? `${rule.name}: ${[from, ...cycle.map(({ name }) => name)].join(' → ')}`
      : `${rule.name}: ${from} → ${to}`,
  )
  const computed = sources.flatMap((file) => computedImportsOf(project, file))
  const text = readFileSync(contributing, 'utf8')
  const outdated =
    text === withArchitecture(text, modules)
      ? []
      : ['CONTRIBUTING.md: run `pnpm --dir tools/release run update` for its diagram']
  return [...misplaced, ...violations, ...computed, ...outdated]
}

/** No tool finds the module of an `import()` whose argument is computed: not the compiler, a bundler or this check. */
function computedImportsOf(project: string, file: string): string[] {
  if (!/^(?:packages|apps)\//.test(file) || file.startsWith('packages/internal-testing/')) return []
  const text = readFileSync(join(project, file), 'utf8')
  return parseSync(file, text).module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) =>
    /^['"]/.test(text.slice(start, end)) ? [] : [`${file}: import(${text.slice(start, end)}) is computed`],
  )
}

function rules(project: string): IFlattenedRuleSet {
  return {
    forbidden: [
      rule('import cycle', {}, { circular: true }),
      rule('import that cannot be resolved', {}, { couldNotResolve: true }),
      ...Object.entries(rooms).flatMap(([folder, names]) =>
        names.map((name, at) =>
          rule(
            `import upwards out of ${folder}/src/${name}`,
            { path: `^${folder}/src/${name}/` },
            {
              path: [
                ...names.slice(0, at).map((higher) => `^${folder}/src/${higher}/`),
                `^${folder}/src/[^/]+$`,
              ],
            },
          ),
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
    { path: '^(packages|apps)/', pathNot: allowed.map((each) => `^${each}(?:/|$)`) },
  )
}

function rule(
  name: string,
  from: IRegularForbiddenRuleType['from'],
  to: IRegularForbiddenRuleType['to'],
): IRegularForbiddenRuleType {
  return { name, severity: 'error', from, to }
}
