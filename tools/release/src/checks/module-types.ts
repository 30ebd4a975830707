import { checkPackage } from '@arethetypeswrong/core'
import type { PackedPackage } from './packed-package.ts'

/** Types and modules must resolve in the same way for `import`, `require`, bundlers and the old `node10`. */
export async function checkModuleTypes({ contents, packedManifest }: PackedPackage): Promise<string[]> {
  if (packedManifest.exports === undefined) return []
  const result = await checkPackage(contents)
  if (!result.types) return ['no types are packed']
  return result.problems.map(
    ({ kind, ...details }) => `${kind} ${JSON.stringify({ ...details, trace: undefined })}`,
  )
}
