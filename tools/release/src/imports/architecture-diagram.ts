import type { IModule } from 'dependency-cruiser'
import { rooms } from './directions.ts'

type Arrows = Map<string, Set<string>>

const start = '<!-- architecture: written by `pnpm --dir tools/release run update` -->\n'
const diagram = new RegExp(`${start}\n\`\`\`mermaid\n.*?\`\`\`\n`, 's')

/** The text with its diagram replaced by a current one. */
export function withArchitecture(markdown: string, modules: readonly IModule[]): string {
  if (!diagram.test(markdown)) throw new Error(`There is no diagram below the comment ${start}`)
  return markdown.replace(diagram, () => `${start}\n\`\`\`mermaid\n${drawArchitecture(modules)}\`\`\`\n`)
}

/** Packages and core's folders as a Mermaid flowchart; an arrow that follows from two others is left out. */
function drawArchitecture(modules: readonly IModule[]): string {
  const workspaces = reduce(arrowsBetween(modules, (file) => /^(?:packages|apps)\/([^/]+)\//.exec(file)?.[1]))
  const folders = reduce(arrowsBetween(modules, (file) => /^packages\/core\/src\/([^/]+)\//.exec(file)?.[1]))
  const apps = new Set(modules.flatMap(({ source }) => /^apps\/([^/]+)\//.exec(source)?.[1] ?? []))
  return [
    'flowchart TD',
    ...[...workspaces.keys()].filter((name) => name !== 'core').map((name) => node(name, apps.has(name))),
    '  subgraph core',
    ...rooms['packages/core'].map((folder) => `    ${folder}`),
    ...lines(folders, '    '),
    '  end',
    ...lines(workspaces, '  '),
    '',
  ].join('\n')
}

function node(name: string, isApp: boolean): string {
  return isApp ? `  ${name}(["apps/${name}"])` : `  ${name}`
}

function arrowsBetween(modules: readonly IModule[], groupOf: (file: string) => string | undefined): Arrows {
  const groups = [...new Set(modules.flatMap(({ source }) => groupOf(source) ?? []))].sort()
  const arrows: Arrows = new Map(groups.map((group) => [group, new Set()]))
  for (const { source, dependencies } of modules) {
    const from = groupOf(source)
    for (const { resolved } of dependencies) {
      const to = groupOf(resolved)
      if (from !== undefined && to !== undefined && from !== to) arrows.get(from)!.add(to)
    }
  }
  return arrows
}

/** Without arrows that follow from two others. */
function reduce(arrows: Arrows): Arrows {
  const reaches = (from: string, to: string, seen = new Set([from])): boolean =>
    from === to || [...arrows.get(from)!].some((next) => !seen.has(next) && reaches(next, to, seen.add(next)))
  return new Map(
    [...arrows].map(([from, ends]) => {
      const direct = [...ends].filter(
        (end) => ![...ends].some((other) => other !== end && reaches(other, end)),
      )
      return [from, new Set(direct.sort())]
    }),
  )
}

function lines(arrows: Arrows, indent: string): string[] {
  return [...arrows].flatMap(([from, ends]) => [...ends].map((end) => `${indent}${from} --> ${end}`))
}
