import {
  createTokenVerifier,
  type IntrospectionOptions,
  type TokenVerifier,
  type TokenVerifierOptions,
  type VerificationEvent,
} from '@tokenwell/resource-server'
import { createFakeClock, type FakeClock } from '@tokenwell/core/testing'

export interface VerifierUnderTest {
  readonly verifier: TokenVerifier
  readonly clock: FakeClock
  /** Tokens that were introspected, in order. */
  readonly introspected: string[]
  readonly events: VerificationEvent[]
  /** The introspection response; may throw. */
  respond: (token: string) => unknown
  /** Status of the verification. */
  readonly statusOf: (token: string) => Promise<number>
}

/** A verifier by introspection, with a scripted endpoint and a fake clock. Tokens that begin with `good` are active. */
export function createVerifierUnderTest(
  introspection: Partial<IntrospectionOptions> = {},
  options: Partial<TokenVerifierOptions> = {},
): VerifierUnderTest {
  const clock = createFakeClock()
  const introspected: string[] = []
  const events: VerificationEvent[] = []
  const verifier = createTokenVerifier({
    introspection: {
      authUrl: 'http://localhost',
      clientId: 'orders-api',
      clientSecret: 'orders-secret',
      ...introspection,
    },
    clock,
    onEvent: (event) => void events.push(event),
    fetch: async (_url, init) => {
      const token = new URLSearchParams(init?.body as URLSearchParams).get('token')!
      introspected.push(token)
      const body = await underTest.respond(token)
      return body instanceof Response ? body : Response.json(body)
    },
    ...options,
  })
  const underTest: VerifierUnderTest = {
    verifier,
    clock,
    introspected,
    events,
    respond: (token) => ({ active: token.startsWith('good'), client_id: 'client' }),
    statusOf: (token) =>
      verifier.verify(`Bearer ${token}`).then(
        () => 200,
        ({ status }: { status: number }) => status,
      ),
  }
  return underTest
}

/** Lets introspection requests wait for `respond`, to reject their token. `asked` is fulfilled with the first one. */
export function delayIntrospection(underTest: VerifierUnderTest): {
  readonly asked: Promise<void>
  readonly respond: () => void
} {
  const events = new EventTarget()
  const next = (type: string) =>
    new Promise<void>((resolve) => events.addEventListener(type, () => resolve(), { once: true }))
  const [asked, responded] = [next('asked'), next('responded')]
  underTest.respond = async () => {
    events.dispatchEvent(new Event('asked'))
    await responded
    return { active: false }
  }
  return { asked, respond: () => void events.dispatchEvent(new Event('responded')) }
}
