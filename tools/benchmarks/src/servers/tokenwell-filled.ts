import { startTokenService } from '@tokenwell/token-service'
import type { TokenServer } from './token-server.ts'
import { tokenPath } from './tokenwell.ts'

export interface Filling {
  readonly applications: number
  readonly tokens: number
}

/** The service with this much data in memory; the tokens are requested from it. */
export async function start({ applications: size, tokens }: Filling): Promise<TokenServer> {
  const applications = Array.from({ length: size }, (_, index) => ({
    name: `application ${index}`,
    clientId: `client-${index}`,
    clientSecret: secretOf(index),
  }))
  const service = await startTokenService({ applications })
  const url = service.authUrl + tokenPath
  // A thousand of the applications, spread over all, request tokens.
  const pending = Math.min(size, 1_000)
  const bodies = Array.from({ length: pending }, (_, each) => {
    const index = Math.floor((each * size) / pending)
    return `client_id=client-${index}&client_secret=${secretOf(index)}`
  })
  let requested = 0
  const requestInTurn = async () => {
    while (requested < tokens) await requestToken(url, bodies[requested++ % pending]!)
  }
  await Promise.all(Array.from({ length: 50 }, requestInTurn))
  return { url, bodies, close: () => service.close() }
}

async function requestToken(url: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const response = await fetch(url, { method: 'POST', headers, body })
  if (!response.ok)
    throw new Error(`The token service responded with ${response.status} while it was filled.`)
  await response.arrayBuffer()
}

function secretOf(index: number): string {
  return `secret-of-application-${index}-in-the-benchmarks`
}
