import type { Block } from './read-blocks.ts'

/** A block of TypeScript, with those that it goes on from, as a file. */
export interface Program {
  readonly page: string
  /** Of its last block. */
  readonly line: number
  readonly fileName: string
  readonly source: string
  readonly inPage: boolean
  readonly notRun: string | undefined
  /** What it must print, if the page says so. */
  readonly output: string | undefined
}

/** Makes programs out of pages' TypeScript blocks: one of each chain of blocks that go on from each other. */
export function assemblePrograms(blocks: readonly Block[]): Program[] {
  const chains: Block[][] = []
  const outputs = new Map<Block[], string>()
  for (const block of blocks) {
    if (block.prints) outputs.set(chains.at(-1)!, block.text)
    if (block.language !== 'ts') continue
    const last = chains.at(-1)
    if (!block.continues) chains.push([block])
    else if (last?.[0]?.page === block.page) last.push(block)
    else throw new Error(`${block.page}:${block.line} continues nothing`)
  }
  return chains.map((chain) => {
    const { page, line } = chain[0]!
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

/** Each line has the number that it has in its page. What is no part of the page stands at the end: imports are hoisted. */
function sourceOf(chain: readonly Block[]): string {
  let source = ''
  for (const { line, text, afterwards } of chain) {
    source += '\n'.repeat(Math.max(0, line - source.split('\n').length)) + text
    if (afterwards !== undefined) source += `;{ ${afterwards} }\n`
  }
  const given = chain.flatMap((block) => block.given ?? [])
  if (given.length > 0) source += `import { ${given.join(', ')} } from '../run/given.ts'\n`
  if (chain.some(({ afterwards }) => afterwards !== undefined))
    source += "import assert from 'node:assert/strict'\n"
  return `${source}export {}\n`
}
