import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { publishedEntries, referenceProgram } from './check-reference.ts'
import { docs } from './read-site.ts'

// `pnpm --dir docs options` writes the tables of `docs/options.md` from the doc comments, which are their one declaration.

const page = join(docs, 'options.md')
const table = /<!-- options: (\S+)(?: without (\S+))? of (\S+) -->\n.*?(?=\n(?:<!-- end -->))/gs

/** Compares the tables of options with the doc comments. */
export function checkOptionTables(): string[] {
  const markdown = readFileSync(page, 'utf8')
  const isCurrent = withTables(markdown) === unpadded(markdown)
  return isCurrent ? [] : ['options.md differs from the doc comments: run "pnpm --dir docs options"']
}

/**
 * The page with each table written anew, after `<!-- options: <interface> of <entry point> -->`. With `without
 * <interface>`, the members that it shares with another one are omitted.
 */
function withTables(markdown: string): string {
  const program = referenceProgram()
  const checker = program.getTypeChecker()
  const entries = new Map(publishedEntries().map(({ name, source }) => [name, source]))
  const written = markdown.replaceAll(table, (_, type: string, other: string | undefined, entry: string) => {
    const source = program.getSourceFile(entries.get(entry) ?? '')
    const symbols = source ? checker.getExportsOfModule(checker.getSymbolAtLocation(source)!) : []
    const membersOf = (wanted: string) => {
      const symbol = symbols.find(({ name }) => name === wanted)
      if (symbol === undefined) throw new Error(`options.md: ${entry} does not export ${wanted}`)
      return checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
    }
    const omitted = new Set(other === undefined ? [] : membersOf(other).map(({ name }) => name))
    const rows = membersOf(type).flatMap((option) => {
      if (omitted.has(option.name)) return []
      const meaning = inline(ts.displayPartsToString(option.getDocumentationComment(checker)))
      if (meaning.startsWith('For authors of ')) return []
      const isOptional = (option.flags & ts.SymbolFlags.Optional) !== 0
      const tag = option.getJsDocTags(checker).find(({ name }) => name === 'default')
      const stated = tag && inline(ts.displayPartsToString(tag.text)).replaceAll(/'[^']+'/g, '`$&`')
      const byDefault = stated ?? (isOptional ? '' : 'required')
      return [[`\`${option.name}\``, meaning, byDefault]]
    })
    const lines = [['option', 'meaning', 'default'], ['---', '---', '---'], ...rows]
    const markdownRows = lines.map((line) => `| ${line.join(' | ')} |`)
    const marker = other === undefined ? type : `${type} without ${other}`
    return `<!-- options: ${marker} of ${entry} -->\n\n${markdownRows.join('\n')}\n`
  })
  return unpadded(written)
}

/** A doc comment in one line of a table. Numbers lose their underscores, links become code. */
function inline(comment: string): string {
  return comment
    .replaceAll(/\{@link (\S+?)\}/g, '`$1`')
    .replaceAll(/(?<=\d)_(?=\d{3})/g, ',')
    .replaceAll('|', '\\|')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Without the spaces and dashes with which oxfmt aligns the columns of a table. */
const unpadded = (markdown: string) =>
  markdown.replaceAll(/^\|.*\|$/gm, (row) => row.replaceAll(/ +(?=\|)/g, ' ').replaceAll(/-{3,}/g, '---'))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(page, withTables(readFileSync(page, 'utf8')))
}
