import process from 'node:process'
import { readSettings } from './settings.ts'
import { startSpeechApi } from './start-speech-api.ts'

try {
  const api = await startSpeechApi(readSettings(process.env))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void api.close())
} catch (error) {
  process.stderr.write(`speech-api: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
