#!/usr/bin/env node
import { UserMistake } from '../user-mistake.ts'
import { parseCommandLine } from './command-line.ts'
import { runService } from './run-service.ts'

const say = (sentence: string) => void process.stderr.write(`${sentence}\n`)

try {
  await runService(parseCommandLine(process.argv), say)
} catch (error) {
  const mistake = error instanceof UserMistake
  say(`tokenwell-service: ${mistake ? error.message : error instanceof Error ? error.stack : String(error)}`)
  process.exit(mistake ? 2 : 1)
}
