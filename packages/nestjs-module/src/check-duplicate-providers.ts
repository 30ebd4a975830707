import type { InjectionToken, Type } from '@nestjs/common'
import type { ModulesContainer } from '@nestjs/core'
import { configurationError } from '@tokenwell/core/protocol'

export type Module = ModulesContainer extends Map<string, infer Value> ? Value : never

/**
 * Nest silently injects the first of several providers with the same token. Fails instead, if a module sees several
 * and one of them is provided by `owner`.
 *
 * @param advice how to tell them apart
 * @throws {TokenError} of kind `configuration`, naming the modules
 */
export function checkDuplicateProviders(
  modules: ModulesContainer,
  owner: Type,
  token: InjectionToken,
  advice: string,
): void {
  for (const module of modules.values()) {
    const providers = providersFor(module, token)
    if (providers.length < 2 || !providers.some(({ metatype }) => metatype === owner)) continue
    const names = providers.map(({ name }) => name).join(' and ')
    const what = typeof token === 'function' ? token.name : String(token)
    throw configurationError(
      `${module.name} imports several modules that provide ${what}: ${names}. ${advice}`,
    )
  }
}

/** The modules that provide a token to `module` by its imports. */
export function providersFor(module: Module, token: InjectionToken): Module[] {
  return [...new Set([...module.imports].flatMap((imported) => providersOf(imported, token)))]
}

/** The modules that provide a token to those that import `module`: itself, or modules that it exports again. */
function providersOf(module: Module, token: InjectionToken, visited = new Set<Module>()): Module[] {
  if (visited.has(module)) return []
  visited.add(module)
  if (module.exports.has(token)) return [module]
  return [...module.imports]
    .filter(({ metatype }) => module.exports.has(metatype))
    .flatMap((exported) => providersOf(exported, token, visited))
}
