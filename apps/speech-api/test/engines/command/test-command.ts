import process from 'node:process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('test-program.ts', import.meta.url))

/** A program that keeps running, with a child process; their one connection closes when both have exited. */
export function longRunningCommand({ port }: { readonly port: number }): string {
  return `bash -c "trap '' TERM; exec 3<>/dev/tcp/127.0.0.1/${port}; sleep 60 & sleep 60" {file}`
}

/** A command that runs `test-program.ts` with a task. */
export function testCommand(task: string): string {
  return `"${process.execPath}" "${program}" ${task} {file}`
}
