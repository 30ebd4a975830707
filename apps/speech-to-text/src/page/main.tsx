import { render } from 'preact'
import { App } from './app.tsx'
import { createHistory } from './history/history.ts'
import { chooseRoute } from './route.ts'
import { readPlatform, startSession } from './server.ts'
import { createDirectTranscriber } from './transcribing/direct-transcriber.ts'
import { createServerTranscriber } from './transcribing/server-transcriber.ts'

const root = document.querySelector('#page')!

try {
  await startSession()
  const platform = await readPlatform()
  const transcribers = {
    direct: createDirectTranscriber(platform.speechUrl),
    server: createServerTranscriber(),
  }
  const route = chooseRoute(platform.direct)
  const history = createHistory(transcribers, () => route.value)
  render(<App platform={platform} transcribers={transcribers} route={route} history={history} />, root)
} catch {
  render(
    <main class="sorry">
      <h1>Speech to text</h1>
      <p role="alert">The server of this page could not be reached.</p>
      <button type="button" onClick={() => location.reload()}>
        Try again
      </button>
    </main>,
    root,
  )
}
