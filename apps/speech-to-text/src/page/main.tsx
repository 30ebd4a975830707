import { effect, signal, type Signal } from '@preact/signals'
import { render } from 'preact'
import { App } from './app.tsx'
import { chooseExpected } from './components/expected-speech.tsx'
import { createHistory } from './history/history.ts'
import { createDirectTranscriber } from './transcribing/direct-transcriber.ts'
import {
  fetchPageSettings,
  startSession,
  createServerTranscriber,
} from './transcribing/server-transcriber.ts'
import type { Route } from './transcribing/transcriber.ts'

/** The user's choice, stored by the browser. */
function chooseRoute(): Signal<Route> {
  const route = signal<Route>(localStorage.getItem('route') === 'direct' ? 'direct' : 'server')
  effect(() => localStorage.setItem('route', route.value))
  return route
}

const root = document.querySelector('#page')!

try {
  await startSession()
  const settings = await fetchPageSettings()
  const transcribers = {
    direct: createDirectTranscriber(settings.speechUrl),
    server: createServerTranscriber(),
  }
  const route = chooseRoute()
  const choice = chooseExpected()
  const history = createHistory(transcribers, () => route.value)
  render(<App {...{ settings, transcribers, route, choice, history }} />, root)
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
