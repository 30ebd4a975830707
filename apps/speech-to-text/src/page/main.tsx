import { render } from 'preact'
import { App } from './app.tsx'
import { createHistory } from './history/history.ts'
import { chooseRoute } from './choose-route.ts'
import {
  fetchPageSettings,
  startSession,
  createServerTranscriber,
} from './transcribing/server-transcriber.ts'
import { createDirectTranscriber } from './transcribing/direct-transcriber.ts'

const root = document.querySelector('#page')!

try {
  await startSession()
  const settings = await fetchPageSettings()
  const transcribers = {
    direct: createDirectTranscriber(settings.speechUrl),
    server: createServerTranscriber(),
  }
  const route = chooseRoute(settings.direct)
  const history = createHistory(transcribers, () => route.value)
  render(<App settings={settings} transcribers={transcribers} route={route} history={history} />, root)
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
