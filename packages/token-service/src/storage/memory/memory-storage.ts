import type { Application } from '../../applications/application.ts'
import type { Storage } from '../storage.ts'
import { createMemoryApplications } from './memory-applications.ts'
import { createMemoryTokens } from './memory-tokens.ts'

/** Keeps everything in this process: gone when it ends. */
export function createMemoryStorage(): Storage {
  const applications = new Map<string, Application>()
  return {
    applications: createMemoryApplications(applications),
    tokens: createMemoryTokens(applications),
    async ready() {},
    async close() {},
  }
}
