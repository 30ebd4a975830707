#!/usr/bin/env node
import { UsageError } from '../platform/usage-error.ts'
import { parseCommandLine } from './command-line.ts'
import { runService } from './run-service.ts'

const print = (line: string) => void process.stderr.write(`${line}\n`)

try {
  await runService(parseCommandLine(process.argv), print)
} catch (error) {
  const isUsageError = error instanceof UsageError
  print(
    `tokenwell-service: ${isUsageError ? error.message : error instanceof Error ? error.stack : String(error)}`,
  )
  process.exit(isUsageError ? 2 : 1)
}
