import process from 'node:process'
import { readSettings } from './settings.ts'
import { startSpeechApi } from './start-speech-api.ts'

try {
  const settings = readSettings(process.env)
  const api = await startSpeechApi(settings)
  const stop = () => {
    void settings.engine?.close()
    void api.close()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
} catch (error) {
  process.stderr.write(`speech-api: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
