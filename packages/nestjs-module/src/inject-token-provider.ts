import { Inject } from '@nestjs/common'
import { getTokenProviderToken } from './token-provider.token.ts'

/** Injects a client's `TokenProvider`: the one without a name, or the one named. */
export function InjectTokenProvider(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getTokenProviderToken(name))
}
