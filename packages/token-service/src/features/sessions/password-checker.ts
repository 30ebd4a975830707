import { setTimeout as delay } from 'node:timers/promises'
import { createFailedAttemptLimit } from '../../oauth/failed-attempt-limit.ts'
import { networks } from '../../runtime/ip-addresses.ts'
import { digest } from '../../runtime/digest.ts'
import { unifiedName } from '../../runtime/lookalikes.ts'
import { ProtocolError } from '../../oauth/protocol-error.ts'
import type { Developer } from '../../storage/developer.ts'
import type { ServiceContext } from '../context.ts'
import { PortalError } from '../../portal/portal-error.ts'
import { isKnownDevice } from './session.ts'
import { isPassword, knownDevice } from './password.ts'
import type { FormState } from '../../portal/layout/form.ts'
import type { PortalResponse } from '../../portal/page-routes.ts'

const failureLimit = { attempts: 10, windowSeconds: 300 }
// For all names together: neither an address nor a network can keep the password check busy.
const networkLimits = [
  { attempts: 50, pending: 2 },
  { attempts: 100, pending: 4 },
]

// Programs wait for the response and try again: a flood that is rejected at once would take the processor.
const busyMs = 2_000

export type PasswordCheck =
  | { readonly developer: Developer; readonly retryAfterSeconds?: undefined }
  | { readonly developer?: undefined; readonly retryAfterSeconds?: number | undefined }

/** Checks a developer's name and password; after too many wrong passwords it reports when to try again. */
export function createPasswordChecker({ storage, keyring, clock, activity }: ServiceContext) {
  const failedAttempts = createFailedAttemptLimit(storage.failures, clock, failureLimit)
  const guards = networkLimits.map((limit) =>
    createFailedAttemptLimit(storage.failures, clock, { ...limit, windowSeconds: 300 }),
  )
  const pending = new Map<string, number>()

  async function check(
    typed: string,
    password: string,
    { address, device }: LogInAttempt,
  ): Promise<PasswordCheck> {
    const name = unifiedName(typed).trim()
    const developer = await storage.developers.find(name)
    // Its failures are counted by itself: others at the same address do not lock it out.
    const isKnown = developer !== undefined && isKnownDevice(keyring, device, developer.id)
    // A digest: people type their password into the name field by mistake.
    const key = isKnown ? `portal device ${device}` : `portal ${digest(name)}`
    const from = isKnown ? '' : address
    const own = isKnown ? [] : networks(address)
    let failures = 0
    for (const [at, network] of own.entries())
      failures = Math.max(failures, (await guards[at]?.check(network, 'portal')) ?? 0)
    await failedAttempts.check(from, key)
    return withPending(own, async () => {
      // It takes the same time for a name that nobody has.
      const hash = developer?.passwordHash || undefined
      if (await isPassword(password, hash, isKnown ? knownDevice : failures)) {
        // Once more: concurrent guesses count as well.
        await failedAttempts.check(from, key)
        if (developer) return { developer }
      }
      for (const [at, network] of own.entries()) await guards[at]?.failed(network, 'portal')
      await failedAttempts.failed(from, key)
      activity.count({ event: 'log_in_failed', address, detail: developer?.name })
      return {}
    })
  }

  async function withPending<Result>(own: readonly string[], work: () => Promise<Result>): Promise<Result> {
    const isBusy = own.some((network, at) => (pending.get(network) ?? 0) >= (networkLimits[at]?.pending ?? 0))
    if (isBusy) throw new PortalError('busy')
    for (const network of own) pending.set(network, (pending.get(network) ?? 0) + 1)
    try {
      return await work()
    } finally {
      for (const network of own) {
        const left = (pending.get(network) ?? 1) - 1
        if (left > 0) pending.set(network, left)
        else pending.delete(network)
      }
    }
  }

  return (name: string, password: string, attempt: LogInAttempt): Promise<PasswordCheck> =>
    check(name, password, attempt).catch(async (error: unknown) => {
      if (error instanceof PortalError && error.reason === 'busy') await delay(busyMs)
      if (!(error instanceof ProtocolError) || error.reason !== 'too_many_failures') throw error
      return { retryAfterSeconds: error.details.retryAfterSeconds ?? 60 }
    })
}

interface LogInAttempt {
  readonly address: string
  /** The cookie of a device that has logged in before. */
  readonly device?: string | undefined
}

/** The response to a form with a password after too many wrong ones. */
export function tooManyAttempts(
  retryAfterSeconds: number,
  values: FormState['values'],
  show: (state: FormState) => PortalResponse,
): PortalResponse {
  const minutes = Math.ceil(retryAfterSeconds / 60)
  const password = `Too many wrong passwords. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`
  return { ...show({ values, errors: { password } }), status: 429, retryAfterSeconds }
}
