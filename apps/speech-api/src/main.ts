import process from 'node:process'
import { readSettings } from './settings.ts'
import { startSpeechApi } from './start-speech-api.ts'

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
  // Not `once`: the library that runs programs ends this one when it is the last to listen.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
} catch (error) {
  process.stderr.write(`speech-api: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
