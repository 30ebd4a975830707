import { spawn } from 'node:child_process'

/** Arguments of `pnpm`. Sizes come last: they are irrelevant while the code does not work. */
const checks = [
  ['exec', 'oxfmt', '--check'],
  ['lint'],
  ['build'],
  ['typecheck'],
  ['check:packages'],
  ['check:docs'],
  ['test'],
  ['check:compatibility'],
  ['check:examples'],
  ['check:size'],
]

interface Outcome {
  readonly name: string
  readonly passed: boolean
  readonly seconds: number
  readonly output: string
}

const outcomes: Outcome[] = []
for (const args of checks) outcomes.push(await runCheck(args))

for (const { name, output } of outcomes.filter(({ passed }) => !passed))
  process.stdout.write(`\n──── ${name} failed ────\n${output.split('\n').slice(-60).join('\n')}\n`)
process.stdout.write('\n')
for (const { name, passed, seconds } of outcomes)
  process.stdout.write(`${passed ? 'passed' : 'FAILED'}  ${name} (${seconds.toFixed(0)} s)\n`)
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1

/** Shows what a check prints while it runs, and keeps it for the summary. */
function runCheck(args: readonly string[]): Promise<Outcome> {
  const name = args.at(args[0] === 'exec' ? 1 : 0)!
  const began = performance.now()
  process.stdout.write(`\n──── ${name} ────\n`)
  return new Promise((resolve, reject) => {
    const child = spawn('pnpm', args, {
      stdio: ['inherit', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    })
    let output = ''
    const show = (stream: NodeJS.WriteStream) => (chunk: Buffer) => {
      output += chunk.toString()
      stream.write(chunk)
    }
    child.stdout.on('data', show(process.stdout))
    child.stderr.on('data', show(process.stderr))
    child.once('error', reject)
    child.once('close', (code) =>
      resolve({ name, passed: code === 0, seconds: (performance.now() - began) / 1000, output }),
    )
  })
}
