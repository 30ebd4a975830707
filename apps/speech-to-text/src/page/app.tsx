import type { Signal } from '@preact/signals'
import type { PlatformFacts } from '../server/platform-facts.ts'
import { AddRecordings } from './components/add-recordings.tsx'
import { Announcer } from './components/announcer.tsx'
import { HistoryList } from './components/history-list.tsx'
import { RouteSwitch } from './components/route-switch.tsx'
import { SelectedRecording } from './components/selected-recording.tsx'
import { TokenPanel } from './components/token-panel.tsx'
import type { Route } from './history/entry.ts'
import type { History } from './history/history.ts'
import type { Transcriber } from './transcribing/transcriber.ts'

export interface AppProps {
  readonly platform: PlatformFacts
  readonly transcribers: Record<Route, Transcriber>
  readonly route: Signal<Route>
  readonly history: History
}

export function App({ platform, transcribers, route, history }: AppProps) {
  return (
    <>
      <header>
        <h1>Speech to text</h1>
        <p>Drop a recording of spoken digits, or say some.</p>
      </header>
      <main>
        <div class="work">
          <AddRecordings history={history} />
          <SelectedRecording history={history} />
          <HistoryList history={history} />
        </div>
        <aside>
          <RouteSwitch platform={platform} route={route} />
          <TokenPanel route={route.value} transcriber={transcribers[route.value]} />
        </aside>
      </main>
      <Announcer history={history} />
    </>
  )
}
