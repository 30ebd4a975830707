import type { Attributes } from '@opentelemetry/api'
import type { TokenEvent } from '@tokenwell/core'

/** Returns the attributes that every span and metric of an event has. */
export type IdentityOf = (event?: TokenEvent) => Attributes

/** Keeps only the first keys, so that neither memory nor the number of time series grows with the tenants. */
export function createIdentity(name: string | undefined, maxKeys: number): IdentityOf {
  const identity: Attributes = name === undefined ? {} : { 'tokenwell.provider.name': name }
  const keys = new Set<string>()
  return (event) => {
    if (maxKeys === 0 || event?.key === undefined) return identity
    const key = String(event.key)
    if (keys.size < maxKeys) keys.add(key)
    return { ...identity, 'tokenwell.pool.key': keys.has(key) ? key : 'other' }
  }
}

type TokenFailed = Extract<TokenEvent, { type: 'token_failed' }>

/** The names are those of OpenTelemetry's semantic conventions. */
export function failureAttributes({ kind, status }: TokenFailed): Attributes {
  return { 'error.type': kind, ...(status !== undefined && { 'http.response.status_code': status }) }
}
