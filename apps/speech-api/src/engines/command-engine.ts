import pLimit from 'p-limit'
import { engineClosed, engineFailed } from '../api-error.ts'
import { openWavFile } from '../wav/wav-file.ts'
import { createTranscript, type SpeechEngine, type SpeechSegment } from './speech-engine.ts'

/** `[00:00:01.500 --> 00:00:02.000]  text`, as whisper-cli prints it. */
const LINE = /^\[(?:(\d+):)?(\d+):(\d+[.,]\d+) --> (?:(\d+):)?(\d+):(\d+[.,]\d+)\]\s*(.*)$/
const TIMEOUT_MS = 300_000

/**
 * Creates an engine for free speech: it runs a program for each recording, which prints lines with times, as
 * `whisper-cli` does, or plain text.
 *
 * @param command a line for the shell, in which `{file}` stands for the path of the recording
 */
export function createCommandEngine(command: string, env: NodeJS.ProcessEnv = process.env): SpeechEngine {
  if (!command.includes('{file}')) throw new TypeError(`SPEECH_ENGINE does not contain {file}: ${command}`)
  const oneAtATime = pLimit(1)
  const closing = new AbortController()
  return {
    name: 'command',
    recognises: ['speech'],
    transcribe: (path, { signal, onProgress }) =>
      oneAtATime(async () => {
        const cancelSignal = AbortSignal.any([signal, closing.signal])
        cancelSignal.throwIfAborted()
        await using recording = await openWavFile(path)
        const { durationSeconds } = recording
        const { execa } = await import('execa') // slow to load, and most servers run no program
        const running = execa(command.replaceAll('{file}', '"$RECORDING"'), {
          shell: true,
          env: { ...env, RECORDING: path },
          extendEnv: false,
          stdin: 'ignore',
          timeout: TIMEOUT_MS,
          cancelSignal,
          killDescendants: true,
          killSignal: 'SIGKILL', // a program that only reads a file has nothing to clean up
        })
        const segments: SpeechSegment[] = []
        try {
          for await (const line of running) {
            const segment = parseLine(line)
            if (!segment) continue
            segments.push(segment)
            onProgress(Math.min(1, segment.end / durationSeconds))
          }
          const { stdout } = await running
          const text = stdout.trim().replaceAll(/\s+/g, ' ')
          if (segments.length === 0 && text) segments.push({ start: 0, end: durationSeconds, text })
        } catch (error) {
          cancelSignal.throwIfAborted()
          throw engineFailed(error)
        }
        return createTranscript({ ...recording, isSilent: false }, segments)
      }),
    close: async () => closing.abort(engineClosed()),
  }
}

function parseLine(line: string): SpeechSegment | undefined {
  const [, hours = 0, minutes = 0, seconds = '', toHours = 0, toMinutes = 0, toSeconds = '', text = ''] =
    LINE.exec(line.trim()) ?? []
  const at = (h: unknown, m: unknown, s: string) =>
    Number(h) * 3_600 + Number(m) * 60 + Number(s.replace(',', '.'))
  if (!text.trim()) return undefined
  return { start: at(hours, minutes, seconds), end: at(toHours, toMinutes, toSeconds), text: text.trim() }
}
