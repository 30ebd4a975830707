import { Inject } from '@nestjs/common'
import { HttpService } from '@nestjs/axios'

/** Injects the `HttpService` of a `TokenHttpModule`: the unnamed one, or the one with this name. */
export function InjectTokenHttp(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getTokenHttpToken(name))
}

/** The injection token of the `HttpService` of a client, for tests and factories. */
export function getTokenHttpToken(name?: string): typeof HttpService | string {
  return name === undefined ? HttpService : `TokenHttp(${name})`
}
