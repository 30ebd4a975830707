import type { Signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { tokenStateOf, type TokenStatus, type TokenState, type Trial } from '../../tokens/token-status.ts'
import type { Route, Transcriber } from '../transcribing/transcriber.ts'

const routes: Record<Route, { readonly label: string; readonly description: string }> = {
  direct: {
    label: 'Directly',
    description: 'This page calls the speech API itself, with a short-lived token from its server.',
  },
  server: {
    label: 'Through the server',
    description:
      'This page sends recordings to its server, which calls the speech API. The page gets no token.',
  },
}

export function RouteSwitch({ route }: { route: Signal<Route> }) {
  return (
    <section class="card">
      <fieldset class="routes">
        <legend>Route to the speech API</legend>
        {(['server', 'direct'] as const).map((name) => (
          <label key={name}>
            <input
              type="radio"
              name="route"
              value={name}
              checked={route.value === name}
              onChange={() => (route.value = name)}
            />
            {routes[name].label}
          </label>
        ))}
      </fieldset>
      <p>{routes[route.value].description}</p>
    </section>
  )
}

const explanations: Record<TokenState, string> = {
  none: 'No token: the next call requests one.',
  fresh: 'Fresh: calls use the cached token.',
  'due-for-refresh':
    'Due for refresh: the next call uses the cached token and refreshes it in the background.',
  expiring: 'Expiring: the next call waits for a new token.',
}

export interface TokenPanelProps {
  readonly route: Route
  readonly transcriber: Transcriber
  /** Whether the page may try what happens to the token. */
  readonly trials: boolean
}

export function TokenPanel({ route, transcriber, trials }: TokenPanelProps) {
  const { status, isGone } = useTokenStatus(transcriber)
  const state = tokenStateOf(status)
  const { lifetimeMs = 0, remainingMs = 0, tokenRequests, refreshes, apiCalls, steps } = status
  return (
    <section class="card token" aria-labelledby="token-heading">
      <h2 id="token-heading">{route === 'direct' ? 'This page’s token' : 'The server’s token'}</h2>
      {isGone ? (
        <p class="state gone" role="alert">
          This page’s server does not respond. Start it again; the page reconnects by itself.
        </p>
      ) : (
        <p class={`state ${state}`}>{explanations[state]}</p>
      )}
      <meter
        aria-label="Remaining lifetime of the token"
        min={0}
        max={Math.max(1, lifetimeMs)}
        value={state === 'none' ? 0 : remainingMs}
      />
      <dl>
        <dt>Expires in</dt>
        <dd data-testid="expires-in">{state === 'none' ? '–' : clock(remainingMs)}</dd>
        <dt>Token requests</dt>
        <dd data-testid="token-requests">{tokenRequests}</dd>
        <dt>API calls</dt>
        <dd data-testid="api-calls">{apiCalls}</dd>
        <dt>Refreshes</dt>
        <dd data-testid="refreshes">{refreshes}</dd>
      </dl>
      {steps.length > 0 && (
        <ol class="steps" aria-label="What happened to the token">
          {steps.map(({ what, why, count, at }, index) => (
            <li key={index} class={what}>
              <span>
                {what}
                {count > 1 && ` ×${count}`}
                {why && `: ${why}`}
              </span>
              <time dateTime={new Date(at).toISOString()}>
                {new Date(at).toLocaleTimeString([], { timeStyle: 'medium' })}
              </time>
            </li>
          ))}
        </ol>
      )}
      {trials && transcriber.try && <Trials hasToken={state !== 'none'} transcriber={transcriber} />}
    </section>
  )
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
function Trials({ hasToken, transcriber }: { hasToken: boolean; transcriber: Transcriber }) {
  const [text, setText] = useState('')
  const attempt = (trial: Trial) =>
    transcriber.try?.(trial).then(
      () => setText(trialTexts[trial].outcome),
      () => setText('This did not work. Reload the page.'),
    )
  return (
    <div class="trials">
      <p id="trials">Try it, and transcribe again:</p>
      <div role="group" aria-labelledby="trials">
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

const initialStatus: TokenStatus = { tokenRequests: 0, refreshes: 0, apiCalls: 0, steps: [] }

/** The current status: the remaining lifetime is counted down between two updates. */
function useTokenStatus(transcriber: Transcriber): { status: TokenStatus; isGone: boolean } {
  const [update, setUpdate] = useState({ status: initialStatus, receivedAt: 0 })
  const [isGone, setGone] = useState(false)
  const [now, setNow] = useState(0)
  useEffect(() => {
    setUpdate({ status: initialStatus, receivedAt: 0 })
    setGone(false)
    const stop = transcriber.followToken((status) => {
      setGone(status === undefined)
      if (status) setUpdate({ status, receivedAt: Date.now() })
      setNow(Date.now())
    })
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => {
      stop()
      clearInterval(timer)
    }
  }, [transcriber])
  const { status, receivedAt } = update
  if (status.remainingMs === undefined) return { status, isGone }
  const remainingMs = Math.max(0, status.remainingMs - Math.max(0, now - receivedAt))
  return { status: { ...status, remainingMs }, isGone }
}

function clock(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
