import { Converter, ReflectionKind, type Application } from 'typedoc'
import { MarkdownPageEvent } from 'typedoc-plugin-markdown'
import { publishedEntries, type PublishedEntry } from './published-entries.ts'

/** A TypeDoc plugin: names each entry point by its import specifier, and describes each in the overview. */
export function load(app: Application): void {
  const entries = publishedEntries()
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    if (reflection.kind !== ReflectionKind.Module) return
    const file = context.getSymbolFromReflection(reflection)?.declarations?.[0]?.getSourceFile().fileName
    const entry = entries.find(({ source }) => source === file)
    if (entry) reflection.name = entry.name
  })
  // TypeDoc confuses the anchors of TokenErrorKind and TokenError.kind, which has no heading, and of other such names.
  app.renderer.on(MarkdownPageEvent.END, (page: { url: string; contents?: string }) => {
    if (page.url === 'index.md') page.contents = overview(entries)
    if (page.contents) page.contents = page.contents.replaceAll(/\(#(\w+)-1\)/g, '(#$1)')
  })
}

/** A line for each package, with its subpaths. */
function overview(entries: readonly PublishedEntry[]): string {
  const packages = Map.groupBy(entries, ({ name }) => name.split('/', 2).join('/'))
  const rows = Array.from(packages, ([name, [entry, ...subpaths]]) => {
    const links = subpaths.map((each) => `[${each.name.slice(name.length)}](${each.name}.md)`)
    const also = links.length > 0 ? `. Subpaths: ${links.join(', ')}` : ''
    return `| [${name}](${name}.md) | ${entry!.description}${also} |`
  })
  return ['# API reference', '', '| package | contents |', '| --- | --- |', ...rows, ''].join('\n')
}
