import { styleText } from 'node:util'
import type { Outcome } from './transcribe-all.ts'

const { stdout, stderr } = process

/** Prints text and JSON to standard output, errors to standard error. */
export function printOutcome(outcome: Outcome, json: boolean): void {
  const { name } = outcome
  if ('error' in outcome) {
    printError(outcome.error)
    if (json) stdout.write(`${JSON.stringify({ file: name, error: outcome.error })}\n`)
  } else if (json) {
    stdout.write(`${JSON.stringify({ file: name, ...outcome.transcript })}\n`)
  } else {
    stdout.write(`${name}: ${outcome.transcript.text}\n`)
    for (const { message } of outcome.transcript.warnings ?? []) stderr.write(`${name}: ${message}\n`)
  }
}

export function printError(message: string): void {
  stderr.write(`${styleText('red', message, { stream: stderr })}\n`)
}

export function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
