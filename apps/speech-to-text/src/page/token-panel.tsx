import axios, { type AxiosInstance } from 'axios'
import { useEffect, useState } from 'preact/hooks'
import type { TokenProvider } from '@tokenwell/core'
import { type TokenStatus, type Trial, watchToken } from '../server/token-status.ts'

/** How recordings reach the speech API: through the server of the page, or from the page itself. */
export interface Routes {
  readonly server: { readonly api: AxiosInstance }
  readonly direct: { readonly api: AxiosInstance; readonly tokens: TokenProvider }
}
export type Route = keyof Routes

const routes: Record<Route, { readonly label: string; readonly description: string }> = {
  server: {
    label: 'Through the server',
    description:
      'This page sends recordings to its server, which calls the speech API. The page gets no token.',
  },
  direct: {
    label: 'Directly',
    description: 'This page calls the speech API itself, with a short-lived token from its server.',
  },
}

export interface TokenPanelProps {
  readonly route: Route
  readonly onRoute: (route: Route) => void
  /** Those of the page itself, and what it calls the speech API with. */
  readonly tokens: TokenProvider
  readonly api: AxiosInstance
  /** Whether the page may try what happens to the server's token. */
  readonly trials: boolean
}

/** The route to the speech API, and what happens to the token on it. */
export function TokenPanel({ route, onRoute, tokens, api, trials }: TokenPanelProps) {
  const { status, isGone } = useTokenStatus(route, tokens, api)
  const { lifetimeMs = 0, remainingMs, tokenRequests, apiCalls, steps } = status
  return (
    <aside class="card token">
      <fieldset class="routes">
        <legend>Route to the speech API</legend>
        {(Object.keys(routes) as Route[]).map((name) => (
          <label key={name}>
            <input type="radio" name="route" checked={route === name} onChange={() => onRoute(name)} />
            {routes[name].label}
          </label>
        ))}
      </fieldset>
      <p class="hint">{routes[route].description}</p>
      <h2>{route === 'direct' ? 'This page’s token' : 'The server’s token'}</h2>
      {isGone ? (
        <p class="warning" role="alert">
          This page’s server does not respond. Start it again; the page reconnects by itself.
        </p>
      ) : (
        <p>{explain(lifetimeMs, remainingMs)}</p>
      )}
      <meter aria-label="Remaining lifetime of the token" max={Math.max(1, lifetimeMs)} value={remainingMs} />
      <dl>
        <dt>Expires in</dt>
        <dd data-testid="expires-in">{remainingMs > 0 ? clock(remainingMs) : '–'}</dd>
        <dt>Token requests</dt>
        <dd data-testid="token-requests">{tokenRequests}</dd>
        <dt>API calls</dt>
        <dd data-testid="api-calls">{apiCalls}</dd>
      </dl>
      {steps.length > 0 && (
        <ol class="steps" aria-label="What happened to the token">
          {steps.map(({ what, why, count, at }) => (
            <li key={at} class={what}>
              {what}
              {count > 1 && ` ×${count}`}
              {why && `: ${why}`}
              <time dateTime={new Date(at).toISOString()}>
                {new Date(at).toLocaleTimeString([], { timeStyle: 'medium' })}
              </time>
            </li>
          ))}
        </ol>
      )}
      {trials && route === 'server' && <Trials hasToken={remainingMs > 0} />}
    </aside>
  )
}

/** The states of a token in a provider with default settings: see the documentation of `@tokenwell/core`. */
function explain(lifetimeMs: number, remainingMs: number): string {
  if (remainingMs <= 0) return 'No token: the next call requests one.'
  if (remainingMs < Math.min(10_000, lifetimeMs / 20)) return 'Expiring: the next call waits for a new token.'
  if (remainingMs >= Math.min(300_000, lifetimeMs / 5)) return 'Fresh: calls use the cached token.'
  return 'Due for refresh: the next call uses the cached token and refreshes it in the background.'
}

const trialTexts: Record<Trial, { readonly label: string; readonly outcome: string }> = {
  revoked: {
    label: 'Revoke',
    outcome:
      'Revoked at the token service. Within a second, the speech API rejects it: the next call gets a new token, and is repeated.',
  },
  expired: { label: 'Expire', outcome: 'Expired. The next call requests a new token.' },
  outage: {
    label: 'Outage',
    outcome:
      'For 30 seconds, the token service responds with 503. Calls that have a cached token use it meanwhile.',
  },
}

/** Shows what revocation, expiry and an outage of the token service mean for the next calls. */
function Trials({ hasToken }: { hasToken: boolean }) {
  const [text, setText] = useState('')
  const attempt = (trial: Trial) =>
    axios.post(`/api/trials/${trial}`).then(
      () => setText(trialTexts[trial].outcome),
      () => setText('This did not work. Reload the page.'),
    )
  return (
    <div class="trials">
      <p id="trials">Try it, and transcribe again:</p>
      <div class="buttons" role="group" aria-labelledby="trials">
        {(Object.keys(trialTexts) as Trial[]).map((trial) => (
          <button
            key={trial}
            type="button"
            class="outline"
            disabled={trial !== 'outage' && !hasToken}
            onClick={() => void attempt(trial)}
          >
            {trialTexts[trial].label}
          </button>
        ))}
      </div>
      <p role="status">{text}</p>
    </div>
  )
}

const none: TokenStatus = { tokenRequests: 0, apiCalls: 0, steps: [] }

/** The current status: the remaining lifetime is counted down between two updates. */
function useTokenStatus(route: Route, tokens: TokenProvider, api: AxiosInstance) {
  const [statuses, setStatuses] = useState({ server: { ...none, at: 0 }, direct: { ...none, at: 0 } })
  const [isGone, setGone] = useState(false)
  const [now, setNow] = useState(0)
  useEffect(() => {
    const show = (of: Route, status: TokenStatus) =>
      setStatuses((before) => ({ ...before, [of]: { ...status, at: Date.now() } }))
    const watcher = watchToken(tokens, () => show('direct', watcher.status()))
    api.interceptors.request.use((config) => {
      watcher.countApiCall()
      return config
    })
    const events = new EventSource('/api/token-status')
    events.addEventListener('message', ({ data }: MessageEvent<string>) => {
      setGone(false)
      show('server', JSON.parse(data) as TokenStatus)
    })
    events.addEventListener('error', () => setGone(true)) // the browser connects again by itself
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => {
      events.close()
      watcher.stop()
      clearInterval(timer)
    }
  }, [])
  const status = statuses[route]
  const remainingMs = Math.max(0, (status.remainingMs ?? 0) - Math.max(0, now - status.at))
  return { status: { ...status, remainingMs }, isGone: isGone && route === 'server' }
}

function clock(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
