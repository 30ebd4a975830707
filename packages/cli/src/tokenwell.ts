#!/usr/bin/env node
import { runCommandLine } from './command-line.ts'

// `tokenwell doctor | head -1` closes the pipe early, which is not an error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
}

process.exitCode = await runCommandLine(process.argv)
