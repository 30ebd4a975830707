import type { Signal } from '@preact/signals'
import type { PlatformFacts } from '../../server/platform-facts.ts'
import type { Route } from '../history/entry.ts'

const ways: Record<Route, { readonly label: string; readonly what: string }> = {
  direct: {
    label: 'Directly',
    what: 'This page calls the speech API itself, with a short-lived token that its server gives it.',
  },
  server: {
    label: 'Through the server',
    what: 'This page sends recordings to its server, which calls the speech API. This page never has a token.',
  },
}

export function RouteSwitch({ platform, route }: { platform: PlatformFacts; route: Signal<Route> }) {
  return (
    <section class="card">
      <fieldset class="routes">
        <legend>Way to the speech API</legend>
        {(['direct', 'server'] as const).map((way) => (
          <label key={way}>
            <input
              type="radio"
              name="route"
              value={way}
              checked={route.value === way}
              disabled={way === 'direct' && !platform.direct}
              onChange={() => (route.value = way)}
            />
            {ways[way].label}
          </label>
        ))}
      </fieldset>
      <p>{ways[route.value].what}</p>
      {!platform.direct && <p>The server has no application for pages: it gives them no tokens.</p>}
    </section>
  )
}
