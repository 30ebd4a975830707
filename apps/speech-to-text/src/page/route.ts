import { effect, signal, type Signal } from '@preact/signals'
import type { Route } from './history/entry.ts'

/** The way to the speech API that the user chose, remembered by the browser. */
export function chooseRoute(directIsPossible: boolean): Signal<Route> {
  const remembered = localStorage.getItem('route') === 'server' ? 'server' : 'direct'
  const route = signal<Route>(directIsPossible ? remembered : 'server')
  effect(() => localStorage.setItem('route', route.value))
  return route
}
