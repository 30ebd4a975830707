import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Block } from './read-blocks.ts'
import { examples, root } from './read-site.ts'

const folder = join(examples, '.docs')

const config = {
  extends: '../tsconfig.build.json',
  compilerOptions: { rootDir: '..', outDir: 'dist' },
  include: ['*.ts', '../run/*.ts'],
}

/**
 * Compiles programs as a reader's project would, against the built packages.
 *
 * @returns the errors of the compiler, each with page and line
 */
export function compilePrograms(programs: readonly Program[]): string[] {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const { fileName, source } of programs) writeFileSync(join(folder, fileName), source)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (status === 0) return []
  const pages = new Map(programs.map(({ fileName, page }) => [fileName, page]))
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.replace(/^(\S+?)\((\d+),\d+\)/, (_, file, at) => `${pages.get(file) ?? file}:${at}`))
}

/** Where a compiled program is. */
export function compiledFile({ fileName }: Program): string {
  return join(folder, 'dist/.docs', fileName.replace(/\.ts$/, '.js'))
}

/** A block of TypeScript as a file, together with the blocks that it continues. */
export interface Program {
  readonly page: string
  /** Of its last block. */
  readonly line: number
  readonly fileName: string
  readonly source: string
  readonly inPage: boolean
  readonly notRun: string | undefined
  /** Its required output, if the page shows it. */
  readonly output: string | undefined
}

/** Creates programs from the TypeScript blocks of pages: one for each chain of blocks that continue each other. */
export function assemblePrograms(blocks: readonly Block[]): Program[] {
  const chains: Block[][] = []
  const outputs = new Map<Block[], string>()
  for (const block of blocks) {
    if (block.prints) outputs.set(chains.at(-1)!, block.text)
    if (block.language !== 'ts') continue
    const { page, line, continues } = block
    const last = chains.at(-1)
    if (continues === undefined) {
      chains.push([block])
    } else if (continues !== '') {
      const file = blocks.find((each) => each.page === page && each.fileName === continues)
      if (file === undefined)
        throw new Error(`${page}:${line} continues ${continues}, which is not on the page`)
      chains.push([file, block])
    } else if (last?.[0]?.page === page) {
      last.push(block)
    } else {
      throw new Error(`${page}:${line} continues nothing`)
    }
  }
  return chains.map((chain) => {
    const { page, line } = chain[1]?.continues ? chain[1] : chain[0]!
    return {
      page,
      line,
      fileName: `${page.replaceAll(/[/.]/g, '-')}-${line}.ts`,
      source: sourceOf(chain),
      inPage: chain.some(({ inPage }) => inPage),
      notRun: chain.find(({ notRun }) => notRun !== undefined)?.notRun,
      output: outputs.get(chain),
    }
  })
}

/** Each line has the same number as in its page. Added code is at the end, because imports are hoisted. */
function sourceOf(chain: readonly Block[]): string {
  let source = ''
  for (const { line, text, afterwards } of chain) {
    // What a block imports from a file that it continues is in the same program.
    const own = text.replaceAll(/^import .* from '\.{1,2}\/.*'$/gm, '')
    source += '\n'.repeat(Math.max(0, line - source.split('\n').length)) + own
    if (afterwards !== undefined) source += `;{ ${afterwards} }\n`
  }
  const given = chain.flatMap((block) => block.given ?? [])
  if (given.length > 0) source += `import { ${given.join(', ')} } from '../run/given.ts'\n`
  if (chain.some(({ afterwards }) => afterwards !== undefined))
    source += "import assert from 'node:assert/strict'\n"
  return `${source}export {}\n`
}
