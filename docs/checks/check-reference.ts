import { existsSync, readdirSync, readFileSync, globSync } from 'node:fs'
import { join, basename } from 'node:path'
import ts from 'typescript'
import { root, docs } from './read-site.ts'

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

const kinds = 'classes,functions,interfaces,type-aliases,variables'

let program: ts.Program | undefined

/** Every published entry point, compiled once. */
export function referenceProgram(): ts.Program {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(docs, 'tsconfig.reference.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: () => {},
    },
  )!
  program ??= ts.createProgram(
    publishedEntries().map(({ source }) => source),
    config.options,
  )
  return program
}

/** Looks up every public export of every published package, as listed by the compiler, in the reference. */
export function checkReference(): { exports: number; problems: string[] } {
  const entries = publishedEntries()
  const program = referenceProgram()
  const checker = program.getTypeChecker()
  let exports = 0
  const problems = entries.flatMap(({ name, source }) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(source)!)!
    const names = checker.getExportsOfModule(module).map((symbol) => symbol.name)
    exports += names.length
    const folder = join(docs, 'reference', name)
    const headings = readFileSync(join(folder, 'index.md'), 'utf8').matchAll(/^### (\w+)/gm)
    // Entry points with many exports have a page for each, in a folder of its kind.
    const pages = globSync(`{${kinds}}/*.md`, { cwd: folder })
    const documented = new Set([
      ...Array.from(headings, ([, heading]) => heading),
      ...pages.map((page) => basename(page, '.md')),
    ])
    return names
      .filter((each) => !documented.has(each))
      .map((each) => `reference: ${each} of ${name} is missing`)
  })
  return { exports, problems }
}
