import { configurationError } from '../protocol/token-error.ts'
import type { GrantRequest } from './grant-source.ts'
import { resolveOption } from './resolve-client.ts'

/** An assertion or a token, or a function that returns it; called for each token request. */
export type Proof = string | ((request: GrantRequest) => string | Promise<string>)

/** @throws {TokenError} of kind `configuration`, naming the option */
export function checkSubject(option: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') {
    throw configurationError(`${option} is missing. Name for whom the tokens are, such as a user ID.`)
  }
}

/** @throws {TokenError} if the function fails or returns no text */
export async function resolveProof(option: string, proof: Proof, request: GrantRequest): Promise<string> {
  const value: unknown = await resolveOption(
    option,
    typeof proof === 'function' ? () => proof(request) : proof,
  )
  const text = typeof value === 'string' ? value.trim() : ''
  if (text === '')
    throw configurationError(`${option} is missing. Pass a string, or a function that returns one.`)
  return text
}
