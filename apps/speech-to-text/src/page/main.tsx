import axios from 'axios'
import { render } from 'preact'
import { backendTokens } from '@tokenwell/core'
import { createSpeechApi } from '../axios/speech.ts'
import { App } from './app.tsx'
import type { Routes } from './token-panel.tsx'

/** Calls the speech API from this page, with tokens from the server of the page. */
function direct(speechUrl: string): Routes['direct'] {
  const tokens = backendTokens({ url: '/api/token' })
  return { api: createSpeechApi(speechUrl, tokens), tokens }
}

const root = document.querySelector('#page')!

try {
  // Sends recordings to the server of the page, which calls the speech API with its own token.
  const server = axios.create({ baseURL: '/api', timeout: 60_000 })
  const { data: settings } = await server.get<{ speechUrl: string; trials: boolean }>('/page-settings')
  const routes = { server: { api: server }, direct: direct(settings.speechUrl) }
  render(<App routes={routes} trials={settings.trials} />, root)
} catch {
  render(
    <main class="unavailable">
      <h1>Speech to text</h1>
      <p role="alert">This page’s server could not be reached.</p>
      <button type="button" onClick={() => location.reload()}>
        Try again
      </button>
    </main>,
    root,
  )
}
