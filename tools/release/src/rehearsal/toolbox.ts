import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../run.ts'

/** The oldest version in `engines`, and the newest of each maintained line. */
const nodeVersions = ['20.19.0', '22.12.0', '22.13.0', '22', '24', '26']
const typescriptVersions = ['5.9', '6', '7']

export interface Toolbox {
  /** By exact version. */
  readonly nodes: ReadonlyMap<string, string>
  readonly compilers: ReadonlyMap<string, string>
}

/** Installs several versions of Node and TypeScript, both from the npm registry, side by side. */
export async function fillToolbox(folder: string, signal: AbortSignal): Promise<Toolbox> {
  const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const name = platform === 'darwin-arm64' ? `node-bin-${platform}` : `node-${platform}`
  const dependencies = {
    ...Object.fromEntries(nodeVersions.map((version) => [`node-${version}`, `npm:${name}@${version}`])),
    ...Object.fromEntries(
      typescriptVersions.map((version) => [`typescript-${version}`, `npm:typescript@${version}`]),
    ),
  }
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { folder, signal })
  const modules = join(folder, 'node_modules')
  const nodes = new Map<string, string>()
  for (const version of nodeVersions) {
    const program = join(
      modules,
      `node-${version}`,
      'bin',
      process.platform === 'win32' ? 'node.exe' : 'node',
    )
    nodes.set((await run(program, ['--version'], { folder, signal })).trim().slice(1), program)
  }
  const compilers = typescriptVersions.map(
    (version) => [version, join(modules, `typescript-${version}`, 'bin/tsc')] as const,
  )
  return { nodes, compilers: new Map(compilers) }
}
