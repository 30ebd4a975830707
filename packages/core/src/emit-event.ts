import type { TokenEvent } from './token-event.ts'

/**
 * How an attacher tells a provider's listeners. Registered globally, so that two copies of this package in
 * one program understand each other.
 */
export const emitEvent: unique symbol = Symbol.for('tokenwell.emitEvent') as never

export interface EventTarget {
  [emitEvent]?(event: TokenEvent): void
}
