import process from 'node:process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('speech-program.ts', import.meta.url))

/** A program that stays with one that it has started; their one connection ends when both have ended. */
export function commandThatStays({ port }: { readonly port: number }): string {
  return `bash -c "trap '' TERM; exec 3<>/dev/tcp/127.0.0.1/${port}; sleep 60 & sleep 60" {file}`
}

/** A command that has the tests' own program do a task. */
export function commandThat(task: string): string {
  return `"${process.execPath}" "${program}" ${task} {file}`
}
