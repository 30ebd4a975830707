import { Inject } from '@nestjs/common'
import { getTokenHttpToken } from './token-http.token.ts'

/** Injects the `HttpService` of a `TokenHttpModule`: the unnamed one, or the one with this name. */
export function InjectTokenHttp(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getTokenHttpToken(name))
}
