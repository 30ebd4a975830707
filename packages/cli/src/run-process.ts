import { runCommandLine } from './command-line.ts'
import { exitCode } from './command-errors.ts'

/** Runs the command line with this process's streams, signals and exit code. */
export async function runProcess(): Promise<void> {
  // `tokenwell doctor | head -1` closes the pipe early, which is not an error.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit(exitCode.ok)
    process.stderr.write(`tokenwell: The output cannot be written (${code}).\n`)
    process.exit(exitCode.unwritable)
  })
  // Messages that nobody reads change no exit code.
  process.stderr.on('error', () => {})
  process.on('SIGINT', () => {
    // A command that runs until it is interrupted ends by itself.
    if (process.listenerCount('SIGINT') === 1) process.exit(exitCode.interrupted)
  })

  process.exitCode = await runCommandLine(process.argv)
  // A connection that does not end, such as one to a proxy, keeps no process running that has its result.
  setTimeout(() => process.exit(), 500).unref()
}
