import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import ts from 'typescript'
import { docs } from './places.ts'
import { publishedEntries } from './published-entries.ts'

const kinds = 'classes,functions,interfaces,type-aliases,variables'

/** Looks up every public export of every published package, as listed by the compiler, in the reference. */
export function checkReference(): { exports: number; problems: string[] } {
  const entries = publishedEntries()
  const config = ts.getParsedCommandLineOfConfigFile(
    join(docs, 'tsconfig.reference.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: () => {},
    },
  )!
  const program = ts.createProgram(
    entries.map(({ source }) => source),
    config.options,
  )
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
