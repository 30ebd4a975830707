import { HttpService } from '@nestjs/axios'
import { Logger } from '@nestjs/common'
import type { ModulesContainer } from '@nestjs/core'

const warned = new WeakSet<ModulesContainer>()

/**
 * Warns once if the application has an `HttpService` with interceptors, such as axios-retry or correlation IDs: the service of a
 * `TokenHttpModule` is another axios instance, which has none of them.
 */
export function warnOfConfiguredService(modules: ModulesContainer): void {
  if (warned.has(modules)) return
  const others = [...modules.values()].filter(({ name }) => name !== 'TokenHttpModule')
  const configured = others.find(({ providers }) =>
    hasInterceptors(providers.get(HttpService)?.instance as HttpService | undefined),
  )
  if (configured === undefined) return
  warned.add(modules)
  new Logger('TokenHttpModule').warn(
    `The HttpService of ${configured.name} has interceptors, which that of TokenHttpModule does not use. ` +
      'To keep them, attach tokens to it: attachTokens(http.axiosRef, tokens, { allowedOrigins }).',
  )
}

function hasInterceptors(service: HttpService | undefined): boolean {
  const { request, response } = service?.axiosRef?.interceptors ?? {}
  return [request, response].some((manager) => {
    const { handlers = [] } = Object(manager) as { handlers?: readonly unknown[] }
    return handlers.some(Boolean)
  })
}
