import { parse } from 'node:querystring'
import type { RawParameters } from '../oauth/parameters.ts'

/** A token of 16 KiB, which is the most that Node accepts in a header, and the credentials of its sender. */
export const maxBodyBytes = 32 * 1024

/** Parameters without a value are treated as omitted (RFC 6749, section 3.2). */
export function parseForm(text: string): RawParameters {
  const form = parse(text)
  for (const name in form) if (form[name] === '') delete form[name]
  return form
}
