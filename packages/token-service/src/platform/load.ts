import { createRequire } from 'node:module'
import type ProxyAddress from '@fastify/proxy-addr'
import type * as Fastify from 'fastify'
import type * as Ipaddr from 'ipaddr.js'
import type * as Pino from 'pino'

interface Packages {
  readonly '@fastify/proxy-addr': typeof ProxyAddress
  readonly fastify: typeof Fastify
  readonly 'ipaddr.js': typeof Ipaddr
  readonly pino: typeof Pino
}

const require = createRequire(import.meta.url)

/** Loads a package when this is called. What is imported instead delays the first token. */
export function load<Name extends keyof Packages>(name: Name): Packages[Name] {
  return require(name) as Packages[Name]
}
