import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Loads a package when this is called. What is imported instead delays the first token. */
export function load(name: string): unknown {
  return require(name)
}
