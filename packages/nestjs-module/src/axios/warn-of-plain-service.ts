import { HttpService } from '@nestjs/axios'
import { Logger, type InjectionToken } from '@nestjs/common'
import { ModuleRef, type ModulesContainer } from '@nestjs/core'
import { providersFor, type Module } from '../check-duplicate-providers.ts'

type Wrapper = Module['providers'] extends Map<unknown, infer Value> ? Value : never

/**
 * Warns if nothing in the application injects the service of a named client, but something injects the plain `HttpService`,
 * whose requests carry no token: `@InjectTokenHttp` was forgotten, and `HttpModule` was imported to make Nest start.
 */
export function warnOfPlainService(modules: ModulesContainer, token: InjectionToken): void {
  const all = [...modules.values()]
  // Then the plain service attaches tokens.
  if (all.some((module) => module.name === 'TokenHttpModule' && module.exports.has(HttpService))) return
  const wrappers = all.flatMap(wrappersOf)
  if (wrappers.some((wrapper) => injects(wrapper, token))) return
  // It may look up the service at run time. Modules of libraries, which inject it too, do not import the service.
  const mayLookUp = (module: Module): boolean =>
    wrappersOf(module).some((wrapper) => injects(wrapper, ModuleRef)) &&
    providersFor(module, token).length > 0
  if (all.some(mayLookUp)) return
  const plain = wrappers.find((wrapper) => injects(wrapper, HttpService))
  if (plain === undefined) return
  const [, name] = /^TokenHttp\((.*)\)$/s.exec(String(token)) ?? []
  new Logger('TokenHttpModule').warn(
    `${plain.name} injects HttpService, whose requests carry no token, and nothing injects the service of '${name}'. ` +
      `Inject it with @InjectTokenHttp('${name}').`,
  )
}

function wrappersOf({ providers, controllers, injectables }: Module): Wrapper[] {
  return [providers, controllers, injectables].flatMap((each): Wrapper[] => [...each.values()])
}

/** Whether Nest passes the provider with this token to a factory, a constructor or a property. */
function injects({ inject, metatype }: Wrapper, token: InjectionToken): boolean {
  const ofFactory = (inject ?? []).map((each) =>
    typeof each === 'object' && 'token' in each ? each.token : each,
  )
  return [...ofFactory, ...ofClass(metatype)].includes(token)
}

/** As Nest's decorators and the compiler declare them. */
function ofClass(type: unknown): unknown[] {
  if (typeof type !== 'function') return []
  const reflect = Reflect as unknown as { getMetadata(key: string, type: unknown): unknown }
  const read = (key: string) => (reflect.getMetadata(key, type) ?? []) as readonly unknown[]
  const parameters = [...read('design:paramtypes')]
  for (const declared of read('self:paramtypes')) {
    const { index, param } = declared as { index: number; param: unknown }
    parameters[index] = param
  }
  const properties = read('self:properties_metadata') as readonly { type: unknown }[]
  return [...parameters, ...properties.map(({ type: declared }) => declared)]
}
