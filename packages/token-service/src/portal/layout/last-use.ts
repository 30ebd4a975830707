import type { SafeHtml } from '@remix-run/html-template'
import { relativeTime } from './time.ts'

/** When applications, resource servers, secrets and keys were last used, by ID. */
export type LastUses = ReadonlyMap<string, number>

export function lastUse(id: string, lastUses: LastUses, nowMs: number): SafeHtml | string {
  const atMs = lastUses.get(id)
  return atMs === undefined ? 'never' : relativeTime(atMs, nowMs)
}
