import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './places.ts'

/** An entry point of a published package. */
export interface PublishedEntry {
  /** Its import specifier, such as `@tokenwell/nestjs-module/axios`. */
  readonly name: string
  /** Path of its source. */
  readonly source: string
  /** The description of its package, in one line. */
  readonly description: string
}

/** Every entry point of every package that is published, core first. */
export function publishedEntries(): PublishedEntry[] {
  const folders = readdirSync(join(root, 'packages'))
    .map((folder) => join(root, 'packages', folder))
    .filter((folder) => existsSync(join(folder, 'package.json')))
  return folders
    .flatMap((folder) => {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        name: string
        description: string
        private?: boolean
        exports?: Record<string, string | Record<string, string>>
      }
      if (manifest.private) return []
      return Object.entries(manifest.exports ?? {}).flatMap(([path, conditions]) => {
        const source = typeof conditions === 'object' ? conditions['@tokenwell/source'] : undefined
        return source
          ? [
              {
                name: join(manifest.name, path),
                source: join(folder, source),
                description: manifest.description,
              },
            ]
          : []
      })
    })
    .sort((a, b) => Number(b.name.endsWith('/core')) - Number(a.name.endsWith('/core')))
}
