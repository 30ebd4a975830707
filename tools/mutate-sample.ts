// `node tools/mutate-sample.ts LINES FOLDER… [--seed N]`: has StrykerJS change some lines of these folders, which are drawn at
// random, and lists the changes that no test notices. They are something to read, not a failure.
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createRandom } from '../packages/internal-testing/src/random.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: String(Date.now()) } },
})
const [count = '60', ...folders] = positionals
const random = createRandom(Number(values.seed))

const lines = folders
  .flatMap((folder) =>
    globSync('**/*.ts', { cwd: folder }).map((file) => join(folder, file).replaceAll('\\', '/')),
  )
  .sort()
  .flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((text, at) => (isCode(text) ? [`${file}:${at + 1}-${at + 1}`] : [])),
  )
const sample: string[] = []
while (sample.length < Number(count) && lines.length > 0)
  sample.push(...lines.splice(Math.floor(random() * lines.length), 1))

process.stdout.write(`Seed ${values.seed}: ${sample.length} lines\n${sample.join('\n')}\n`)
const { status } = spawnSync('pnpm', ['run', 'mutate', sample.join(',')], { stdio: 'inherit' })
process.exitCode = status ?? 1

/** Whether a line can have something to change: it is no import, comment or lone bracket. */
function isCode(line: string): boolean {
  return /\w/.test(line) && !/^\s*(?:import |export \{|\/\/|\/?\*)/.test(line)
}
