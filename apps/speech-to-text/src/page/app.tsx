import type { Signal } from '@preact/signals'
import type { PageSettings } from '../platform/connection.ts'
import icon from './icon.svg?no-inline'
import { AddRecordings } from './components/add-recordings.tsx'
import type { ExpectedChoice } from './components/expected-speech.tsx'
import { Announcer, HistoryList, UndoRemove } from './components/history-list.tsx'
import { SelectedRecording } from './components/selected-recording.tsx'
import { RouteSwitch, TokenPanel } from './components/token-panel.tsx'
import type { History } from './history/history.ts'
import type { Route, Transcriber } from './transcribing/transcriber.ts'

export interface AppProps {
  readonly settings: PageSettings
  readonly transcribers: Record<Route, Transcriber>
  readonly route: Signal<Route>
  readonly choice: Signal<ExpectedChoice>
  readonly history: History
}

export function App({ settings, transcribers, route, choice, history }: AppProps) {
  return (
    <>
      <header>
        <img src={icon} alt="" width="32" height="32" />
        <h1>Speech to text</h1>
        <p class="subtitle">
          Transcribes digits, numbers, dates, codes, given sentences, or a text that is read aloud.
        </p>
      </header>
      <main>
        <div class="recordings">
          <AddRecordings history={history} choice={choice} />
          <UndoRemove history={history} />
          <SelectedRecording history={history} choice={choice} />
          <HistoryList history={history} />
        </div>
        <aside>
          <RouteSwitch route={route} />
          <TokenPanel route={route.value} transcriber={transcribers[route.value]} trials={settings.trials} />
        </aside>
      </main>
      <Announcer history={history} />
    </>
  )
}
