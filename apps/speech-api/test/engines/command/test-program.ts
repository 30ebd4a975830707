import { readFileSync, statSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { digits, repeated } from '../../support/recordings.ts'

const program = fileURLToPath(new URL('test-program.ts', import.meta.url))

/** A program that keeps running, with a child process; their one connection closes when both have exited. */
export function longRunningCommand({ port }: { readonly port: number }): string {
  return `bash -c "trap '' TERM; exec 3<>/dev/tcp/127.0.0.1/${port}; sleep 60 & sleep 60" {file}`
}

/** A command that runs `test-program.ts` with a task. */
export function testCommand(task: string): string {
  return `"${process.execPath}" "${program}" ${task} {file}`
}

// The speech recognition program of the tests. Arguments: a task and, at the end, the recording.

const [task, ...words] = process.argv.slice(2)
const file = words.pop() ?? ''

switch (task) {
  case 'print':
    process.stdout.write(words.join(' '))
    break
  case 'recognise-samples': {
    // By their size: a program that recognises anything takes a second to start.
    const { size } = statSync(file)
    const found = [digits, repeated(2), repeated(3)].find(({ wav }) => wav.length === size)
    const words = found?.text.split(' ') ?? []
    const segments = words.map((text, index) => ({ start: index / 5, end: index / 5 + 0.1, text }))
    process.stdout.write(JSON.stringify({ segments }))
    break
  }
  case 'print-path':
    process.stdout.write(file)
    break
  case 'print-format': {
    const wav = readFileSync(file)
    const [channels, rate, bits] = [wav.readUInt16LE(22), wav.readUInt32LE(24), wav.readUInt16LE(34)]
    process.stdout.write(
      [channels, rate, bits, wav.readUInt32LE(4), wav.readUInt32LE(40), wav.length].join(' '),
    )
    break
  }
  case 'print-environment':
    process.stdout.write(Object.keys(process.env).sort().join(' '))
    break
  case 'print-times':
    process.stdout.write('[00:00.000 --> 00:01.500]  one\n[00:01.500 --> 00:03.000]  two\n')
    break
  case 'print-forever': {
    const print = () => void process.stdout.write('x'.repeat(100_000), print)
    print()
    break
  }
  case 'fail':
    process.stderr.write(`${'x'.repeat(100_000)} the model is missing`)
    process.exitCode = 3
    break
  default:
    process.exitCode = 2
}
