import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { projectFolder } from '../public-packages.ts'
import { run } from '../run.ts'

/** Words that are in no name, and what to write instead. */
const forbidden = new Map(
  Object.entries(
    JSON.parse(readFileSync(join(projectFolder, 'release/forbidden-words.json'), 'utf8')) as Record<
      string,
      string
    >,
  ),
)
/** Terms of the field that contain such a word. */
const allowedTerms = /\b(?:in flight|single flight|connection refused)\b/g

/** Identifiers and file names with a word for which this project uses another one. */
export async function checkWords(project = projectFolder): Promise<string[]> {
  const listed = await run('git', ['ls-files'], { folder: project })
  return listed
    .trim()
    .split('\n')
    .flatMap((file) => problemsOf(file, [...file.split('/'), ...identifiersIn(project, file)]))
}

function problemsOf(file: string, names: readonly string[]): string[] {
  return [...new Set(names)].flatMap((name) =>
    wordsOf(name)
      .filter((word) => forbidden.has(word))
      .map((word) => `${file}: "${name}" contains "${word}". Write: ${forbidden.get(word)}.`),
  )
}

/** The words of a name: those of `inFlight`, `IN_FLIGHT` and `in-flight` are the same. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[^A-Za-z]+/g, ' ')
    .toLowerCase()
    .replaceAll(allowedTerms, '')
    .split(' ')
}

function identifiersIn(project: string, file: string): string[] {
  if (!/\.(?:[cm]?[jt]s|tsx)$/.test(file)) return []
  const names: string[] = []
  const { program } = parseSync(file, readFileSync(join(project, file), 'utf8'))
  JSON.stringify(program, (key, value: unknown) => {
    if (key === 'name' && typeof value === 'string') names.push(value)
    return typeof value === 'bigint' ? undefined : value
  })
  return names
}
