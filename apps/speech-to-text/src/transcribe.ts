import { runTranscribe } from './command/run-transcribe.ts'

// `transcribe … | head -1` closes the pipe early. That is not an error.
process.stdout.on('error', () => process.exit(0))

process.exitCode = await runTranscribe(process.argv.slice(2))
