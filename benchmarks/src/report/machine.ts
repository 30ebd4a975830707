import { cpus } from 'node:os'

/** On what a result was found; nothing that names the machine. */
export function describeMachine(): string {
  const processors = cpus()
  const date = new Date().toISOString().slice(0, 10)
  return `${date}, ${processors.length} × ${processors[0]?.model.trim() ?? 'unknown processor'}, Node ${process.versions.node}`
}
