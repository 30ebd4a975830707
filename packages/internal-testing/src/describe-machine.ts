import { cpus, loadavg } from 'node:os'

/** The conditions of a measurement, load of other programs included; nothing identifies the machine. */
export function describeMachine(): string {
  const processors = cpus()
  const date = new Date().toISOString().slice(0, 10)
  const [load = 0] = loadavg()
  const processor = processors[0]?.model.trim() ?? 'unknown processor'
  return `${date}, ${processors.length} × ${processor}, Node ${process.versions.node}, load average ${load.toFixed(2)} at the start`
}
