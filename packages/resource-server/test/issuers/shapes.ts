import { readFileSync } from 'node:fs'
import type { IssuerOptions, TokenRequirements } from '@tokenwell/resource-server'

/** Claims that are changed in a token; null removes one. */
export type ChangedClaims = Readonly<Record<string, unknown>>

/** An access token of a machine as an issuer documents it, and the options of its recipe. */
export interface IssuerShape {
  readonly header: Readonly<Record<string, string>>
  readonly claims: ChangedClaims & { readonly iss: string }
  readonly options: Omit<IssuerOptions, 'issuer'>
  readonly clientId?: string
  /** Requirements of a route. */
  readonly met: TokenRequirements
  readonly missed: TokenRequirements
  /** What makes it a token for another API, of another client, or another kind of token. */
  readonly otherApi: ChangedClaims
  readonly otherClient?: ChangedClaims
  readonly idTokens?: readonly ChangedClaims[]
}

export const shapes = JSON.parse(readFileSync(new URL('shapes.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, IssuerShape>
>
