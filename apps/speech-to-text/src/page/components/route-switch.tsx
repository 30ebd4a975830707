import type { Signal } from '@preact/signals'
import type { PageSettings } from '../../platform/connection.ts'
import type { Route } from '../transcribing/transcriber.ts'

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

export function RouteSwitch({ settings, route }: { settings: PageSettings; route: Signal<Route> }) {
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
              disabled={name === 'direct' && !settings.direct}
              onChange={() => (route.value = name)}
            />
            {routes[name].label}
          </label>
        ))}
      </fieldset>
      <p>{routes[route.value].description}</p>
      {!settings.direct && (
        <p>
          The direct route is not available. To enable it, set PAGE_CLIENT_ID and PAGE_CLIENT_SECRET on the
          server.
        </p>
      )}
    </section>
  )
}
