import { styleText } from 'node:util'
import type { Outcome } from './transcribe-all.ts'

const { stdout, stderr } = process

/** Text and JSON go to standard output, what is wrong to standard error. */
export function printOutcome(outcome: Outcome, json: boolean): void {
  const { name } = outcome
  if ('problem' in outcome) {
    complain(outcome.problem)
    if (json) stdout.write(`${JSON.stringify({ file: name, error: outcome.problem })}\n`)
  } else if (json) {
    stdout.write(`${JSON.stringify({ file: name, ...outcome.transcript })}\n`)
  } else {
    stdout.write(`${name}: ${outcome.transcript.text}\n`)
  }
}

export function complain(sentence: string): void {
  stderr.write(`${styleText('red', sentence, { stream: stderr })}\n`)
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
