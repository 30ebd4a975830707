import ky from 'ky'
import type { PageSettings } from '../platform/page-settings.ts'

/** A real application logs the user in here. */
export async function startSession(): Promise<void> {
  await ky.post('/api/sessions')
}

export function fetchPageSettings(): Promise<PageSettings> {
  return ky.get('/api/page-settings').json<PageSettings>()
}
