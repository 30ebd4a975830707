/** Headers of a response: a `Headers` object, or a record whose names may be in any case. */
export type ResponseHeaders = Headers | Readonly<Record<string, string | undefined>>

/** The value of one response header; `name` in lower case. For authors of adapters and bindings. */
export function headerValue(headers: ResponseHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return (headers as Headers).get(name) ?? undefined
  for (const [key, value] of Object.entries(headers)) {
    if (key.toLowerCase() === name && value !== undefined && value !== null) return String(value)
  }
  return undefined
}
