#!/usr/bin/env node
import { runCommandLine } from './command-line.ts'

// `tokenwell doctor | head -1` closes the pipe early, which is not an error.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(0)
  process.stderr.write(`tokenwell: The output cannot be written (${code}).\n`)
  process.exit(1)
})
// Messages that nobody reads change no exit code.
process.stderr.on('error', () => {})

process.exitCode = await runCommandLine(process.argv)
