import { backendTokens } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import ky from 'ky'
import { watchToken } from '../../tokens/token-status.ts'
import { transcribeRecording } from '../../speech/transcribe-recording.ts'
import { sendForm, createXhrFetch } from './xhr-fetch.ts'
import type { Transcriber } from './transcriber.ts'

/** Calls the speech API from this page, with a token from the server of the page. */
export function createDirectTranscriber(speechUrl: string): Transcriber {
  const tokens = backendTokens({ url: '/api/token' })
  const listeners = new Set<() => void>()
  const watcher = watchToken(tokens, () => {
    for (const listener of listeners) listener()
  })
  const hooks = tokenHooks(tokens, { prefix: speechUrl })

  return {
    transcribe(recording, { onUpload, ...options }) {
      const xhrFetch = createXhrFetch(onUpload)
      const api = ky
        .create({
          throwHttpErrors: false,
          timeout: false,
          fetch: (input, init) => {
            watcher.countApiCall()
            return xhrFetch(input, init)
          },
        })
        .extend(hooks)
      return transcribeRecording(sendForm(api, 'v1'), recording, options)
    },
    followToken(listener) {
      const notify = () => listener(watcher.status())
      notify()
      listeners.add(notify)
      return () => void listeners.delete(notify)
    },
  }
}
