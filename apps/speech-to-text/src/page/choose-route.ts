import { effect, signal, type Signal } from '@preact/signals'
import type { Route } from './transcribing/transcriber.ts'

/** The user's choice, stored by the browser. */
export function chooseRoute(directIsPossible: boolean): Signal<Route> {
  const stored = localStorage.getItem('route') === 'direct' ? 'direct' : 'server'
  const route = signal<Route>(directIsPossible ? stored : 'server')
  effect(() => localStorage.setItem('route', route.value))
  return route
}
