import { runTranscribe } from './command/run-transcribe.ts'
import { transcribeCommand } from './command/transcribe-options.ts'

// `transcribe … | head -1` closes the pipe early. That is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

await transcribeCommand(async (files, options) => {
  process.exitCode = await runTranscribe(files, options)
}).parseAsync()
