import process from 'node:process'
import { readSettings } from './server/speech-api-options.ts'
import { startSpeechApi } from './server/create-speech-api.ts'

try {
  const settings = readSettings(process.env)
  const api = await startSpeechApi(settings)
  let stopping = false
  const stop = () => {
    if (stopping) process.exit(1)
    stopping = true
    void settings.engine?.close()
    void api.close()
  }
  // Not `once`: execa exits the process on a signal that has no other listener.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
} catch (error) {
  process.stderr.write(`speech-api: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
