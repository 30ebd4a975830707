import { checkPackage } from '@arethetypeswrong/core'
import type { PackedPackage } from './packed-package.ts'

/** Types and modules must resolve alike for Node and for bundlers. The packages are ES modules, which `require` loads too. */
export async function checkModuleTypes({ contents, packedManifest }: PackedPackage): Promise<string[]> {
  if (packedManifest.exports === undefined) return []
  const result = await checkPackage(contents)
  if (!result.types) return ['no types are packed']
  return result.problems
    .filter((problem) => !('resolutionKind' in problem) || problem.resolutionKind !== 'node10')
    .filter(({ kind }) => kind !== 'CJSResolvesToESM')
    .map(({ kind, ...details }) => `${kind} ${JSON.stringify({ ...details, trace: undefined })}`)
}
