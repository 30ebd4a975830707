import { globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'

/** In this workspace each package is the one that `pack.ts` has packed, also as a dependency of another. */
function usePackedPackages(config) {
  const packages = new URL('../packages/', import.meta.url)
  const packed = globSync('*/package.json', { cwd: packages })
    .toSorted()
    .flatMap((file) => {
      const { name, private: isPrivate } = JSON.parse(readFileSync(new URL(file, packages), 'utf8'))
      return isPrivate ? [] : [[name, `file:.packed/${basename(dirname(file))}`]]
    })
  return { ...config, overrides: { ...config.overrides, ...Object.fromEntries(packed) } }
}

export const hooks = { updateConfig: usePackedPackages }
