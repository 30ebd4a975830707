import { environmentVariables } from '@tokenwell/core/adapter'

/** The variables that the command reads, by what they set. An ID and a secret in the same position belong together. */
export const variables = {
  ...environmentVariables,
  cacheKey: ['TOKEN_CACHE_KEY'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export interface Misspelling {
  readonly given: string
  readonly meant: string
}

/** Variables whose name differs from one of these by one letter, while that one is not set. */
export function misspellings(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[] = Object.values(variables).flat(),
): Misspelling[] {
  const known = new Set<string>(Object.values(variables).flat())
  const others = Object.keys(env).filter((given) => !known.has(given))
  return names
    .filter((meant) => !env[meant])
    .flatMap((meant) => others.filter((given) => isNear(given, meant)).map((given) => ({ given, meant })))
}

/** One letter more, less or another one, or two that changed places; upper and lower case are the same. */
function isNear(given: string, meant: string): boolean {
  const name = given.toUpperCase()
  let same = 0
  while (same < meant.length && name[same] === meant[same]) same++
  const [one, other] = [name.slice(same), meant.slice(same)]
  return (
    one === other ||
    one.slice(1) === other ||
    one === other.slice(1) ||
    one.slice(1) === other.slice(1) ||
    (one[0] === other[1] && one[1] === other[0] && one.slice(2) === other.slice(2))
  )
}
