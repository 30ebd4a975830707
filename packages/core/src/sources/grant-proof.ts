import { configurationError } from '../protocol/token-error.ts'
import type { GrantRequest } from './grant-source.ts'
import { resolveOption } from './resolve-client.ts'

/** Returns an assertion or a token; called for each token request. */
export interface ProofSource<Request> {
  (request: Request): string | Promise<string>
  /** Called with one that the token endpoint rejected, for a source that would return it again. */
  readonly reject?: ((proof: string) => void) | undefined
}

/** An assertion or a token, or a function that returns it. */
export type Proof = string | ProofSource<GrantRequest>

/** Reports a proof that the token endpoint rejected. */
export function rejectProof(proof: Proof | undefined, sent: string | undefined): void {
  if (typeof proof === 'function' && sent !== undefined) proof.reject?.(sent)
}

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
