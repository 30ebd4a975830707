import { runTranscribe, transcribeCommand } from './command/run-transcribe.ts'

// `transcribe … | head -1` closes the pipe early. That is not an error.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(0)
  process.stderr.write(`transcribe: The output cannot be written (${code}).\n`)
  process.exit(1)
})
// Messages that nobody reads change no exit code.
process.stderr.on('error', () => {})

await transcribeCommand(async (files, options) => {
  process.exitCode = await runTranscribe(files, options)
}).parseAsync()
