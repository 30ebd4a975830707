import { Inject } from '@nestjs/common'
import { getTokenProviderToken } from './token-provider.token.ts'

/** Injects the `TokenProvider` of a client: the unnamed one, or the one with this name. */
export function InjectTokenProvider(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getTokenProviderToken(name))
}
