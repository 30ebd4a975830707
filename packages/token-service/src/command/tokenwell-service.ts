#!/usr/bin/env node
import { UsageError } from '../platform/usage-error.ts'
import { sendAdminRequest } from './admin-command.ts'
import { parseCommandLine } from './parse-command-line.ts'
import { runService } from './run-service.ts'
import { runStorageTask } from './run-storage-task.ts'

const print = (line: string) => void process.stderr.write(`${line}\n`)

try {
  const commandLine = parseCommandLine(process.argv)
  if ('request' in commandLine) {
    process.stdout.write(await sendAdminRequest(commandLine.request, process.env))
  } else {
    const { task, configuration } = commandLine
    await (task ? runStorageTask(task, configuration.storage, print) : runService(commandLine, print))
  }
} catch (error) {
  const isUsageError = error instanceof UsageError
  print(
    `tokenwell-service: ${isUsageError ? error.message : error instanceof Error ? error.stack : String(error)}`,
  )
  process.exit(isUsageError ? 2 : 1)
}
