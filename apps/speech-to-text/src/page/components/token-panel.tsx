import { useEffect, useState } from 'preact/hooks'
import { tokenStateOf, type TokenLife, type TokenState } from '../../token-life.ts'
import type { Route } from '../history/entry.ts'
import type { Transcriber } from '../transcribing/transcriber.ts'

const explanations: Record<TokenState, string> = {
  none: 'None yet: the first call asks for one.',
  fresh: 'Fresh: handed out at once.',
  ageing: 'Ageing: handed out at once, while a new one is asked for behind the next call.',
  expiring: 'Expiring: the next call waits for a new one.',
}

export function TokenPanel({ route, transcriber }: { route: Route; transcriber: Transcriber }) {
  const life = useTokenLife(transcriber)
  const state = tokenStateOf(life)
  const { lifetimeMs = 0, remainingMs = 0, tokenRequests, renewals, apiCalls } = life
  return (
    <section class="card token" aria-labelledby="token-heading">
      <h2 id="token-heading">{route === 'direct' ? "This page's token" : "The server's token"}</h2>
      <p class={`state ${state}`}>{explanations[state]}</p>
      <meter
        aria-label="Life left of the token"
        min={0}
        max={Math.max(1, lifetimeMs)}
        value={state === 'none' ? 0 : remainingMs}
      />
      <dl>
        <dt>Time left</dt>
        <dd data-testid="time-left">{state === 'none' ? '–' : clock(remainingMs)}</dd>
        <dt>Token requests</dt>
        <dd data-testid="token-requests">{tokenRequests}</dd>
        <dt>API calls</dt>
        <dd data-testid="api-calls">{apiCalls}</dd>
        <dt>Renewals</dt>
        <dd data-testid="renewals">{renewals}</dd>
      </dl>
    </section>
  )
}

const nothing: TokenLife = { tokenRequests: 0, renewals: 0, apiCalls: 0 }

/** The life as it is now: between two tidings time goes by. */
function useTokenLife(transcriber: Transcriber): TokenLife {
  const [told, setTold] = useState({ life: nothing, at: 0 })
  const [now, setNow] = useState(0)
  useEffect(() => {
    setTold({ life: nothing, at: 0 })
    const stop = transcriber.followToken((life) => {
      setTold({ life, at: Date.now() })
      setNow(Date.now())
    })
    const ticking = setInterval(() => setNow(Date.now()), 1000)
    return () => {
      stop()
      clearInterval(ticking)
    }
  }, [transcriber])
  const { life, at } = told
  if (life.remainingMs === undefined) return life
  return { ...life, remainingMs: Math.max(0, life.remainingMs - Math.max(0, now - at)) }
}

function clock(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
