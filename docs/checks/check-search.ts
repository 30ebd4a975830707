import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import MiniSearch from 'minisearch'
import type { SearchResult } from 'minisearch'
import { searchOptions, searchWords } from '../.vitepress/theme/search.ts'
import { site } from './read-site.ts'

/** What readers search for after an error, and a page that must be among the first three results. */
const among: Readonly<Record<string, string>> = {
  ERR_TOKEN: '/adapters/axios',
  'clock skew': '/troubleshooting',
  timeout: '/errors',
  invalid_client: '/errors',
}

/** Search terms, and the page that must be the first result. */
const expected: Readonly<Record<string, string>> = {
  jest: '/modules',
  '401': '/troubleshooting',
  proxy: '/network',
  configservice: '/adapters/nestjs',
  workers: '/frameworks/workers',
  'private key': '/authentication',
  logging: '/telemetry',
  'multi tenant': '/multi-tenant',
  retry: '/errors',
  cors: '/frontend',
  dynamodb: '/dynamodb',
  'durable objects': '/durable-objects',
  TokenProvider: '/reference/@tokenwell/core/interfaces/TokenProvider',
  createTokenPool: '/reference/@tokenwell/core/functions/createTokenPool',
  requireToken: '/reference/@tokenwell/resource-server/express/',
}

/** Searches the index of the built site, as the site does. */
export async function checkSearch(): Promise<{ searches: number; problems: string[] }> {
  const chunks = join(site, 'assets/chunks')
  const file = readdirSync(chunks).find((name) => name.startsWith('@localSearchIndexroot'))!
  const { default: json } = (await import(pathToFileURL(join(chunks, file)).href)) as { default: string }
  const index = MiniSearch.loadJSON<SearchResult>(json, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    tokenize: searchWords,
    searchOptions,
  })
  const problems = [
    ...Object.entries(expected).map((entry) => [...entry, 1] as const),
    ...Object.entries(among).map((entry) => [...entry, 3] as const),
  ].flatMap(([query, page, places]) => {
    const found = index.search(query).map(({ id }) => String(id).replace(/(?:\.html)?(?:#.*)?$/, ''))
    return found.slice(0, places).includes(page)
      ? []
      : [`search for "${query}": ${page} is not among the first ${places}: ${found.slice(0, 3).join(', ')}`]
  })
  return { searches: Object.keys({ ...expected, ...among }).length, problems }
}
