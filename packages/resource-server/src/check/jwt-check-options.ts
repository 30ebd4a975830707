import type { Clock } from '@tokenwell/core'
import type { TokenVerifierOptions } from '../options/token-verifier-options.ts'

export interface JwtCheckOptions extends TokenVerifierOptions {
  readonly issuer: string
  readonly audience: string | readonly string[]
  readonly clock: Clock
}
