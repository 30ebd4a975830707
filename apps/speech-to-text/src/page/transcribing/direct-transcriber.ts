import { backendTokens, createTokenProvider } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import ky from 'ky'
import { watchTokenLife } from '../../token-life.ts'
import { transcribeThrough } from '../../transcribe-through.ts'
import { sendWith } from './send-with.ts'
import type { Transcriber } from './transcriber.ts'
import { createXhrFetch } from './xhr-fetch.ts'

/** From this page to the speech API, with a token that the page's own server gives it. */
export function createDirectTranscriber(speechUrl: string): Transcriber {
  // The server keeps its token, too: it must hear that the API refused it, or it would give the same again.
  let refused = false
  const headers = (): HeadersInit => (refused ? { 'cache-control': 'no-cache' } : {})
  const tokens = createTokenProvider(backendTokens({ url: '/api/token', headers }))
  tokens.on(({ type }) => {
    if (type === 'token_rejected') refused = true
    if (type === 'token_received') refused = false
  })
  const listeners = new Set<() => void>()
  const watch = watchTokenLife(tokens, () => {
    for (const listener of listeners) listener()
  })
  const hooks = tokenHooks(tokens, { allowedOrigins: [new URL(speechUrl).origin] })

  return {
    transcribe(recording, { onSent, ...options }) {
      const xhrFetch = createXhrFetch(onSent)
      const api = ky
        .create({
          prefix: speechUrl,
          throwHttpErrors: false,
          timeout: false,
          fetch: (input, init) => {
            watch.countApiCall()
            return xhrFetch(input, init)
          },
        })
        .extend(hooks)
      return transcribeThrough(sendWith(api, 'v1'), recording, options)
    },
    followToken(listener) {
      const tell = () => listener(watch.life())
      tell()
      listeners.add(tell)
      return () => void listeners.delete(tell)
    },
  }
}
