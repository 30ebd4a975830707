import { useEffect, useState } from 'preact/hooks'
import { tokenStateOf, type TokenStatus, type TokenState } from '../../tokens/token-status.ts'
import type { Route, Transcriber } from '../transcribing/transcriber.ts'

const explanations: Record<TokenState, string> = {
  none: 'No token: the next call requests one.',
  fresh: 'Fresh: calls use the cached token.',
  'due-for-refresh':
    'Due for refresh: the next call uses the cached token and refreshes it in the background.',
  expiring: 'Expiring: the next call waits for a new token.',
}

export function TokenPanel({ route, transcriber }: { route: Route; transcriber: Transcriber }) {
  const status = useTokenStatus(transcriber)
  const state = tokenStateOf(status)
  const { lifetimeMs = 0, remainingMs = 0, tokenRequests, refreshes, apiCalls } = status
  return (
    <section class="card token" aria-labelledby="token-heading">
      <h2 id="token-heading">{route === 'direct' ? 'This page’s token' : 'The server’s token'}</h2>
      <p class={`state ${state}`}>{explanations[state]}</p>
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
    </section>
  )
}

const initialStatus: TokenStatus = { tokenRequests: 0, refreshes: 0, apiCalls: 0 }

/** The current status: the remaining lifetime is counted down between two updates. */
function useTokenStatus(transcriber: Transcriber): TokenStatus {
  const [update, setUpdate] = useState({ status: initialStatus, receivedAt: 0 })
  const [now, setNow] = useState(0)
  useEffect(() => {
    setUpdate({ status: initialStatus, receivedAt: 0 })
    const stop = transcriber.followToken((status) => {
      setUpdate({ status, receivedAt: Date.now() })
      setNow(Date.now())
    })
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => {
      stop()
      clearInterval(timer)
    }
  }, [transcriber])
  const { status, receivedAt } = update
  if (status.remainingMs === undefined) return status
  return { ...status, remainingMs: Math.max(0, status.remainingMs - Math.max(0, now - receivedAt)) }
}

function clock(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
