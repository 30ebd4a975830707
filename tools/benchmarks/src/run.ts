import { describeMachine } from '../../../packages/internal-testing/src/soak-table.ts'
import { section, writeResults, type Measured } from './report/tables.ts'
import type { Result } from './result.ts'

// Each loads its peers only when it runs.
const scenarios: Record<string, () => Promise<Result>> = {
  'warm-path': async () => (await import('./scenarios/warm-path.ts')).warmPath(),
  stampede: async () => (await import('./scenarios/stampede.ts')).stampede(),
  refresh: async () => (await import('./scenarios/refresh.ts')).refresh(),
  revocation: async () => (await import('./scenarios/revocation.ts')).revocation(),
  footprint: async () => (await import('./scenarios/footprint.ts')).footprint(),
  tenants: async () => (await import('./scenarios/tenants.ts')).tenants(),
  fleet: async () => (await import('./scenarios/fleet.ts')).fleet(),
  verification: async () => (await import('./scenarios/verification.ts')).verification(),
  'token-service': async () => (await import('./scenarios/token-service.ts')).tokenService(),
}

const names = Object.keys(scenarios)
const asked = process.argv.slice(2)

const unknown = asked.find((name) => !Object.hasOwn(scenarios, name))
if (unknown !== undefined) {
  process.stderr.write(`Unknown benchmark: ${unknown}. Choose from ${names.join(', ')}\n`)
  process.exit(2)
}

const start = performance.now()
const results: Measured[] = []
for (const [name, run] of Object.entries(scenarios)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  const began = performance.now()
  process.stderr.write(`${name} …`)
  const machine = describeMachine()
  const result = { ...(await run()), machine }
  process.stderr.write(` ${((performance.now() - began) / 1000).toFixed(0)} s\n`)
  process.stdout.write(`${section(result)}\n`)
  results.push(result)
}
// The page compares all scenarios: only a run of all of them writes it.
if (asked.length === 0) writeResults(results)
process.stderr.write(`${((performance.now() - start) / 1000).toFixed(0)} s in all\n`)
