import { clientCredentials } from '@tokenwell/core'
import { createRandom } from '@tokenwell/internal-testing/random'

const lifetimes = [
  0,
  -1,
  1,
  2,
  5,
  59,
  300,
  3_600,
  1e12,
  '5',
  '0',
  '3600',
  '',
  'soon',
  null,
  undefined,
  [],
  true,
  0.4,
]
const types = ['Bearer', 'bearer', '', null, undefined, 'DPoP', 'mac', 'Application Access Token', 7]
const errors = [
  undefined,
  undefined,
  undefined,
  null,
  '',
  {},
  [],
  'invalid_client',
  'odd',
  { message: 'no' },
  true,
]
const steps = [0, 1, 40, 500, 999, 1_000, 1_001, 4_000, 11_000, 61_000, 301_000, 3_600_000]

/**
 * Requests tokens from an endpoint that responds at random, with status 200, and checks each: it is returned for at most a
 * second after it has expired by its own statement, a valid one reaches its caller, and there is at most one request a second.
 *
 * @returns the number of responses
 */
export async function playLifetimes(seed: number, calls: number): Promise<number> {
  const random = createRandom(seed)
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!
  let nowMs = 1_700_000_000_000
  let issued = 0
  let requests = 0
  let requestedAtMs = Number.NEGATIVE_INFINITY
  const problems: string[] = []
  const expiry = new Map<string, number>()
  let last: { readonly value: string; readonly isValid: boolean } | undefined

  const respond = (): Response => {
    requests++
    if (nowMs - requestedAtMs < 1_000) problems.push(`two requests in ${nowMs - requestedAtMs} ms`)
    requestedAtMs = nowMs
    const [expiresIn, type, error] = [pick(lifetimes), pick(types), pick(errors)]
    const isSame = last !== undefined && random() < 0.3
    const value = isSame ? last!.value : `token-${++issued}`
    const isBearer = type === null || type === undefined || /^(?:bearer)?$/i.test(String(type))
    const isError = typeof error === 'object' ? Object.keys(error ?? {}).length > 0 : Boolean(error)
    const isValid = isBearer && !isError
    const seconds = typeof expiresIn === 'string' && expiresIn !== '' ? Number(expiresIn) : expiresIn
    if (isValid && typeof seconds === 'number' && !Number.isNaN(seconds)) {
      const untilMs = nowMs + Math.max(0, seconds) * 1_000
      // A token that is issued again may have been announced differently: the last statement counts.
      expiry.set(value, untilMs)
    } else if (isValid) expiry.delete(value)
    last = { value, isValid }
    return Response.json({ access_token: value, token_type: type, expires_in: expiresIn, error })
  }

  const tokens = clientCredentials({
    tokenEndpoint: 'https://auth.example.com/token',
    clientId: 'client',
    clientSecret: 'secret',
    fetch: async () => respond(),
    maxAttempts: 1,
    clock: { now: () => nowMs, monotonic: () => nowMs },
  })
  for (let call = 0; call < calls && problems.length === 0; call++) {
    nowMs += pick(steps)
    const before = requests
    const token = await tokens.getToken().catch(() => undefined)
    const lateMs = nowMs - (expiry.get(token?.value ?? '') ?? Number.POSITIVE_INFINITY)
    if (lateMs > 1_000) problems.push(`${token!.value} was returned ${lateMs} ms late`)
    const isNew = requests > before
    if (token === undefined && isNew && last!.isValid) problems.push(`${last!.value} was lost`)
    // A refresh in the background.
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate)
  }
  await tokens.close()
  if (problems.length > 0) throw new Error(`seed ${seed}, request ${requests}: ${problems[0]}`)
  return requests
}
