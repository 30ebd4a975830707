import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { docs } from './places.ts'
import { publishedEntries } from './published-entries.ts'

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
    const reference = readFileSync(join(docs, 'reference', `${name}.md`), 'utf8')
    const documented = new Set(Array.from(reference.matchAll(/^### (\w+)/gm), ([, heading]) => heading))
    return names
      .filter((each) => !documented.has(each))
      .map((each) => `reference: ${each} of ${name} is missing`)
  })
  return { exports, problems }
}
