import type { Storage } from '../storage.ts'
import { createMemoryActivity } from './memory-activity.ts'
import { createMemoryAssertions } from './memory-assertions.ts'
import { createMemoryDevelopers } from './memory-developers.ts'
import { createMemoryFailures } from './memory-failures.ts'
import { createMemoryListings } from './memory-listings.ts'
import { createMemoryRegistry } from './memory-registry.ts'
import { createMemoryResourceServers } from './memory-resource-servers.ts'
import { createMemoryTokens } from './memory-tokens.ts'

/** Stores everything in this process, until it exits. */
export function createMemoryStorage(): Storage {
  const { developers, sessions, forgetProject } = createMemoryDevelopers()
  const registry = createMemoryRegistry(forgetProject)
  const resourceServers = createMemoryResourceServers()
  const activity = createMemoryActivity(async () => [
    ...registry.ids(),
    ...(await resourceServers.list()).flatMap(({ clientId, secrets, keys }) => [
      clientId,
      ...[...secrets, ...keys].map(({ id }) => id),
    ]),
  ])
  return {
    projects: registry.projects,
    products: registry.products,
    applications: registry.applications,
    tokens: createMemoryTokens(registry.find),
    failures: createMemoryFailures(),
    assertions: createMemoryAssertions(),
    resourceServers,
    activity,
    developers,
    sessions,
    listings: createMemoryListings({ ...registry, developers, activity }),
    opened: Promise.resolve(),
    async probe() {},
    async close() {},
  }
}
