import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { cruise, type ICruiseResult, type IFlattenedRuleSet } from 'dependency-cruiser'
import { projectFolder, readManifest } from '../public-packages.ts'

/** Folders of the workspaces that have sources, such as `packages/core`. */
export function sourceFolders(project = projectFolder): string[] {
  return ['packages', 'apps']
    .flatMap((parent) => readdirSync(join(project, parent)).map((name) => `${parent}/${name}`))
    .filter((folder) => existsSync(join(project, folder, 'src')))
}

/** Files that other workspaces may import: the sources behind a package's `exports`. */
export function entryFiles(project = projectFolder): string[] {
  return sourceFolders(project).flatMap((folder) =>
    Object.values(readManifest(join(project, folder)).exports ?? {}).flatMap((target) => {
      const source = typeof target === 'object' && target['@tokenwell/source']
      return source ? [join(folder, source)] : []
    }),
  )
}

/** All imports among the sources, types included, with every violation of the rules. */
export async function readImports(rules: IFlattenedRuleSet, project = projectFolder): Promise<ICruiseResult> {
  const { output } = await cruise(
    sourceFolders(project).map((folder) => `${folder}/src`),
    {
      baseDir: resolve(project),
      ruleSet: rules,
      validate: true,
      outputType: 'json',
      tsPreCompilationDeps: true,
      combinedDependencies: true,
      doNotFollow: { path: 'node_modules' },
    },
    { conditionNames: ['@tokenwell/source', 'import', 'default'], exportsFields: ['exports'] },
  )
  return JSON.parse(output as string) as ICruiseResult
}
