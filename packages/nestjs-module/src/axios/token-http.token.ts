import { HttpService } from '@nestjs/axios'

/** The injection token of the `HttpService` of a client, for tests and factories. */
export function getTokenHttpToken(name?: string): typeof HttpService | string {
  return name === undefined ? HttpService : `TokenHttp(${name})`
}
