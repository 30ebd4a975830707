/** At most three significant figures and a readable unit. */
export function nanoseconds(ns: number): string {
  if (ns < 1_000) return `${ns.toFixed(0)} ns`
  if (ns < 1_000_000) return `${significant(ns / 1_000)} µs`
  return `${significant(ns / 1_000_000)} ms`
}

export function milliseconds(ms: number): string {
  return ms < 1_000 ? `${significant(ms)} ms` : `${significant(ms / 1_000)} s`
}

export function bytes(count: number): string {
  if (count < 1_024) return `${count.toFixed(0)} B`
  if (count < 2 ** 20) return `${significant(count / 1_024)} KiB`
  return count < 2 ** 30 ? `${significant(count / 2 ** 20)} MiB` : `${significant(count / 2 ** 30)} GiB`
}

export function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}

export function ratio(value: number): string {
  return `${significant(value)} ×`
}

function significant(value: number): string {
  if (value >= 100) return count(value)
  return value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
