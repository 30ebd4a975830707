import { Inject } from '@nestjs/common'

/** Injects the `TokenProvider` of a client: the unnamed one, or the one with this name. */
export function InjectTokens(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getTokenProviderToken(name))
}

/** The injection token of a client's `TokenProvider`, for tests and factories. */
export function getTokenProviderToken(name?: string): string {
  return name === undefined ? 'TokenProvider' : `TokenProvider(${name})`
}
