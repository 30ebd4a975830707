import ky from 'ky'
import type { PlatformFacts } from '../server/platform-facts.ts'

/** Where a real application has its users log in. */
export async function startSession(): Promise<void> {
  await ky.post('/api/sessions')
}

export function readPlatform(): Promise<PlatformFacts> {
  return ky.get('/api/platform').json<PlatformFacts>()
}
