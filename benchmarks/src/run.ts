import { writeResults } from './report/write-results.ts'
import type { Result } from './result.ts'

// Each loads its peers only when it runs.
const works: Record<string, () => Promise<Result>> = {
  'warm-path': async () => (await import('./works/warm-path.ts')).warmPath(),
  stampede: async () => (await import('./works/stampede.ts')).stampede(),
  renewal: async () => (await import('./works/renewal.ts')).renewal(),
  revocation: async () => (await import('./works/revocation.ts')).revocation(),
  footprint: async () => (await import('./works/footprint.ts')).footprint(),
  tenants: async () => (await import('./works/tenants.ts')).tenants(),
  fleet: async () => (await import('./works/fleet.ts')).fleet(),
  'token-service': async () => (await import('./works/token-service.ts')).tokenService(),
}

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !Object.hasOwn(works, name))
if (unknown !== undefined) {
  process.stderr.write(`There is no benchmark ${unknown}; there are ${Object.keys(works).join(', ')}\n`)
  process.exit(2)
}

const start = performance.now()
for (const [name, work] of Object.entries(works)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  const began = performance.now()
  process.stderr.write(`${name} …`)
  const result = await work()
  process.stderr.write(` ${((performance.now() - began) / 1000).toFixed(0)} s\n`)
  // At once, so that what was found stays even if a later one fails.
  process.stdout.write(`${writeResults(Object.keys(works), name, result)}\n`)
}
process.stderr.write(`${((performance.now() - start) / 1000).toFixed(0)} s in all\n`)
