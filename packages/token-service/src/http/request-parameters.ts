import { ProtocolError } from './protocol-error.ts'

/** What a form or a query parses into: a repeated name becomes a list. */
export type ParsedParameters = Record<string, string | string[] | undefined>

/** The value of `name`; repeated ones are refused (RFC 6749 section 3.2), empty ones count as absent. */
export function parameter(parameters: ParsedParameters, name: string): string | undefined {
  const value = parameters[name]
  if (Array.isArray(value)) throw new ProtocolError('repeated_parameter', { parameter: name })
  return value === '' ? undefined : value
}

export function requiredParameter(parameters: ParsedParameters, name: string): string {
  const value = parameter(parameters, name)
  if (value === undefined) throw new ProtocolError('missing_parameter', { parameter: name })
  return value
}
