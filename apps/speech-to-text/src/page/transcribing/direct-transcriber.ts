import { backendTokens, createTokenProvider } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import ky from 'ky'
import { watchToken } from '../../tokens/token-status.ts'
import { transcribeRecording } from '../../speech/transcribe-recording.ts'
import { sendForm, createXhrFetch } from './xhr-fetch.ts'
import type { Transcriber } from './transcriber.ts'

/** Calls the speech API from this page, with a token from the server of the page. */
export function createDirectTranscriber(speechUrl: string): Transcriber {
  // The server caches the token too. Without `no-cache`, it would return a rejected token again.
  let rejected = false
  const headers = (): HeadersInit => (rejected ? { 'cache-control': 'no-cache' } : {})
  const tokens = createTokenProvider(backendTokens({ url: '/api/token', headers }))
  tokens.subscribe(({ type }) => {
    if (type === 'token_rejected') rejected = true
    if (type === 'token_received') rejected = false
  })
  const listeners = new Set<() => void>()
  const watcher = watchToken(tokens, () => {
    for (const listener of listeners) listener()
  })
  const hooks = tokenHooks(tokens, { allowedOrigins: [new URL(speechUrl).origin] })

  return {
    transcribe(recording, { onUpload, ...options }) {
      const xhrFetch = createXhrFetch(onUpload)
      const api = ky
        .create({
          prefix: speechUrl,
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
