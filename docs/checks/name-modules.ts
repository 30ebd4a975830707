import { Converter, ReflectionKind, type Application } from 'typedoc'
import { MarkdownPageEvent } from 'typedoc-plugin-markdown'
import { publishedEntries, type PublishedEntry } from './published-entries.ts'

/** A TypeDoc plugin: calls each entry point what a program imports it by, and describes each in the overview. */
export function load(app: Application): void {
  const entries = publishedEntries()
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    if (reflection.kind !== ReflectionKind.Module) return
    const file = context.getSymbolFromReflection(reflection)?.declarations?.[0]?.getSourceFile().fileName
    const entry = entries.find(({ source }) => source === file)
    if (entry) reflection.name = entry.name
  })
  // It takes the anchor of TokenErrorKind for a second one beside that of TokenError.kind, which has no heading. The same
  // with other names of which one joins two of another.
  app.renderer.on(MarkdownPageEvent.END, (page: { url: string; contents?: string }) => {
    if (page.url === 'index.md') page.contents = overview(entries)
    if (page.contents) page.contents = page.contents.replaceAll(/\(#(\w+)-1\)/g, '(#$1)')
  })
}

function overview(entries: readonly PublishedEntry[]): string {
  const rows = entries.map(({ name, description }) => `| [${name}](${name}.md) | ${description} |`)
  return ['# API reference', '', '| package | contents |', '| --- | --- |', ...rows, ''].join('\n')
}
