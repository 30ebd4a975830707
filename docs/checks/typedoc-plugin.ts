import {
  Comment,
  Converter,
  ReflectionKind,
  type Application,
  type CommentDisplayPart,
  type DeclarationReflection,
  type ParameterReflection,
  type SomeType,
} from 'typedoc'
import { MarkdownPageEvent, MemberRouter } from 'typedoc-plugin-markdown'
import { publishedEntries, type PublishedEntry } from './check-reference.ts'

/** An entry point that exports more has a page for each export. */
const exportsOnOnePage = 20

/** A row of an index with more than the first sentence, which the page of the export repeats. */
const longIndexRow = /^(\| \[[^\]]+\]\([^)]*\) \| .*?\.) .*\|$/gm

/**
 * A TypeDoc plugin: names each entry point by its import specifier, describes each in the overview, and describes
 * parameters by their types.
 */
export function load(app: Application): void {
  const entries = publishedEntries()
  app.renderer.defineRouter('page-size', PageSizeRouter)
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    if (reflection.kind !== ReflectionKind.Module) return
    const file = context.getSymbolFromReflection(reflection)?.declarations?.[0]?.getSourceFile().fileName
    const entry = entries.find(({ source }) => source === file)
    if (entry) reflection.name = entry.name
  })
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    for (const reflection of project.getReflectionsByKind(ReflectionKind.Parameter)) {
      describeParameter(reflection as ParameterReflection)
    }
  })
  // TypeDoc confuses the anchors of TokenVerificationErrorCode and of the property `code`, which has no heading.
  app.renderer.on(MarkdownPageEvent.END, (page: { url: string; contents?: string }) => {
    if (page.url === 'index.md') page.contents = overview(entries)
    else if (page.contents)
      page.contents = page.contents.replaceAll(/\(#(\w+)-1\)/g, '(#$1)').replaceAll(longIndexRow, '$1 |')
  })
}

/** One without a comment gets that of its type; one that is destructured, a name. */
function describeParameter(parameter: ParameterReflection): void {
  if (parameter.name.startsWith('__namedParameters')) parameter.name = 'options'
  if (parameter.hasComment() || !parameter.type) return
  const summary = summaryOf(parameter.type)
  if (summary) parameter.comment = new Comment([...summary])
}

/** The description of the first type in it that has one. */
function summaryOf(type: SomeType): readonly CommentDisplayPart[] | undefined {
  switch (type.type) {
    case 'reference':
      return type.reflection?.comment?.summary
    case 'union':
    case 'intersection':
      return type.types.map(summaryOf).find((summary) => summary !== undefined)
    case 'array':
      return summaryOf(type.elementType)
    case 'typeOperator':
      return summaryOf(type.target)
    default:
      return undefined
  }
}

/** Pages that a browser shows fast, and as few as possible: each page of the site lists all pages. */
class PageSizeRouter extends MemberRouter {
  readonly #ownPages = this.membersWithOwnFile

  override buildChildPages(
    reflection: DeclarationReflection,
    pages: Parameters<MemberRouter['buildChildPages']>[1],
  ): void {
    if (reflection.kind === ReflectionKind.Module) {
      const isLarge = (reflection.children?.length ?? 0) > exportsOnOnePage
      this.membersWithOwnFile = isLarge ? this.#ownPages : []
    }
    super.buildChildPages(reflection, pages)
  }
}

/** A line for each package, with its subpaths. */
function overview(entries: readonly PublishedEntry[]): string {
  const packages = Map.groupBy(entries, ({ name }) => name.split('/', 2).join('/'))
  const rows = Array.from(packages, ([name, [entry, ...subpaths]]) => {
    const links = subpaths.map((each) => `[${each.name.slice(name.length)}](${each.name}/index.md)`)
    const also = links.length > 0 ? `. Subpaths: ${links.join(', ')}` : ''
    return `| [${name}](${name}/index.md) | ${entry!.description}${also} |`
  })
  return ['# API reference', '', '| package | contents |', '| --- | --- |', ...rows, ''].join('\n')
}
