import type { HeadersInput } from '../sources/backend-tokens.ts'

/** A copy of a request's headers. */
export type RequestHeaders = Headers | Readonly<Record<string, string>>

export function copyHeaders(headers: HeadersInput | undefined): Headers | Record<string, string> | undefined {
  if (headers === undefined || headers === null) return undefined
  return isRecord(headers) ? { ...headers } : new Headers(headers)
}

function isRecord(headers: NonNullable<HeadersInput>): headers is Record<string, string> {
  return !(Symbol.iterator in headers)
}

/** A copy in which headers of the same name are replaced. */
export function withHeaders(
  added: Readonly<Record<string, string>>,
  headers: RequestHeaders | undefined,
): Headers | Record<string, string> {
  if (headers === undefined) return { ...added }
  if (headers instanceof Headers) {
    const copy = new Headers(headers)
    for (const name in added) copy.set(name, added[name]!)
    return copy
  }
  // By Object.assign: in Node 20, adding a member to the result of a spread takes eight times as long.
  const copy: Record<string, string> = Object.assign({}, headers)
  for (const name in added) {
    for (const key in headers) if (isSameName(key, name)) delete copy[key]
    copy[name] = added[name]!
  }
  return copy
}

export function hasHeader(headers: RequestHeaders | undefined, name: string): boolean {
  if (headers instanceof Headers) return headers.has(name)
  for (const key in headers) if (isSameName(key, name)) return true
  return false
}

function isSameName(one: string, other: string): boolean {
  // The length first, because changing the case takes a quarter of the time of a whole call.
  return one.length === other.length && one.toLowerCase() === other.toLowerCase()
}
