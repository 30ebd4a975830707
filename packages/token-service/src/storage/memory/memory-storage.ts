import type { Storage } from '../storage.ts'
import { createMemoryActivity } from './memory-activity.ts'
import { createMemoryDevelopers } from './memory-developers.ts'
import { createMemoryFailures } from './memory-failures.ts'
import { createMemoryRegistry } from './memory-registry.ts'
import { createMemoryTokens } from './memory-tokens.ts'

/** Keeps everything in this process: gone when it ends. */
export function createMemoryStorage(): Storage {
  const registry = createMemoryRegistry()
  return {
    projects: registry.projects,
    applications: registry.applications,
    tokens: createMemoryTokens(registry.find),
    failures: createMemoryFailures(),
    activity: createMemoryActivity(registry.used),
    ...createMemoryDevelopers(),
    async ready() {},
    async close() {},
  }
}
