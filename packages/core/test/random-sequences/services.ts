import type { Oracle } from './oracle.ts'
import { takeTime } from './virtual-time.ts'

/** The origins of a sequence: two that get tokens, one that gets none, and the token service. */
export const origins = {
  first: 'https://a.example',
  second: 'https://b.example',
  foreign: 'https://c.example',
  tokens: 'https://t.example',
} as const

/** Random choices that a seed repeats. */
export interface Choices {
  /** A number in this range. */
  readonly between: (low: number, high: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <const Value>(values: readonly Value[]) => Value
}

export function createChoices(random: () => number): Choices {
  return {
    between: (low, high) => low + random() * (high - low),
    chance: (probability) => random() < probability,
    pick: (values) => values[Math.floor(random() * values.length)]!,
  }
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** What the services of a sequence know. */
interface World {
  readonly oracle: Oracle
  readonly choices: Choices
  /** Whether nothing fails but that tokens are revoked. */
  readonly isCalm: boolean
}

const tokenBehaviours = [
  'works',
  'works',
  'works',
  'works',
  'slow',
  'deaf',
  'stalls',
  'hangs',
  'is unreachable',
  'responds with HTML',
  'is down',
  'throttles',
  'rejects the credentials',
] as const

function json(status: number, body: object, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

/** A body of which the second part takes its time. */
function stalling(text: string, ms: number, signal: AbortSignal | null | undefined): ReadableStream {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(encoder.encode(text.slice(0, 4)))
      try {
        await takeTime(ms, signal)
        controller.enqueue(encoder.encode(text.slice(4)))
        controller.close()
      } catch (error) {
        controller.error(error)
      }
    },
  })
}

/** The token service, and the metadata of the first API and of the service. */
export function createTokenService({ oracle, choices, isCalm }: World): Fetch {
  const { between, chance, pick } = choices
  const lifetimes = pick([[2], [60], [3_600], [5, 60, 3_600], [3, 30]])
  return async (input, init) => {
    const { origin, pathname } = new URL(input instanceof Request ? input.url : input)
    const signal = init?.signal
    if (new Headers(init?.headers).get('authorization')?.startsWith('Bearer')) {
      oracle.report('a token at the token service')
    }
    if (init?.method !== 'POST') {
      await takeTime(isCalm ? 5 : pick([1, 20, 500, 4_000]), signal)
      if (!isCalm && chance(0.15)) return json(pick([404, 429, 500]), {})
      return origin === origins.first ? aboutFirst(pathname) : aboutTokens()
    }
    const tenant = new URLSearchParams(init.body as URLSearchParams).get('client_id') ?? 'tenant-0'
    const behaviour = isCalm ? 'works' : pick(tokenBehaviours)
    const isDeaf = behaviour === 'deaf'
    await takeTime(behaviour === 'slow' ? between(1_000, 25_000) : between(1, 300), isDeaf ? null : signal)
    const issue = (): object => {
      const lifetime = pick(lifetimes)
      return {
        access_token: oracle.issue(tenant, lifetime * 1_000),
        token_type: 'Bearer',
        expires_in: lifetime,
      }
    }
    switch (behaviour) {
      case 'is down':
        return json(503, {})
      case 'throttles':
        return json(429, {}, { 'retry-after': String(pick([1, 3, 40])) })
      case 'rejects the credentials':
        return json(401, { error: 'invalid_client' })
      case 'is unreachable':
        throw Object.assign(new TypeError('fetch failed'), { code: 'ECONNRESET' })
      case 'responds with HTML':
        return new Response('<html>')
      case 'hangs':
        await takeTime(1e9, signal)
        break
      case 'deaf':
        await takeTime(between(1_000, 60_000), null)
        break
      case 'stalls':
        return new Response(stalling(JSON.stringify(issue()), between(100, 40_000), signal))
      case 'slow':
      case 'works':
    }
    return json(200, issue())
  }
}

function aboutFirst(pathname: string): Response {
  if (pathname.startsWith('/.well-known')) {
    return json(200, { resource: `${origins.first}/`, authorization_servers: [origins.tokens] })
  }
  const challenge = `Bearer resource_metadata="${origins.first}/.well-known/oauth-protected-resource"`
  return new Response(null, { status: 401, headers: { 'www-authenticate': challenge } })
}

function aboutTokens(): Response {
  return json(200, { issuer: origins.tokens, token_endpoint: `${origins.tokens}/token` })
}

const apiBehaviours = [
  'works',
  'works',
  'works',
  'revokes tokens',
  'rejects',
  'lacks a scope',
  'forbids',
  'is down',
  'is unreachable',
  'redirects',
  'redirects to the other API',
  'redirects to another origin',
  'is redirected by fetch',
  'hangs',
  'stalls',
  'slow',
] as const

/** The APIs at every origin. A request says in its URL which one of the application it is, and whether it changed its origin. */
export function createApis({ oracle, choices, isCalm }: World): Fetch {
  const { between, chance, pick } = choices
  return async (input, init) => {
    const given = input instanceof Request ? input : undefined
    const url = new URL(input instanceof Request ? input.url : input)
    const signal = init?.signal ?? given?.signal
    const headers = new Headers(init?.headers ?? given?.headers)
    const method = init?.method ?? given?.method ?? 'GET'
    const number = Number(url.searchParams.get('request'))
    const isRedirected = url.searchParams.has('redirected')
    const token = headers.get('authorization')?.replace('Bearer ', '')
    const { origin, pathname: path } = url
    const request = oracle.arrive(number, { method, origin, path, token }, isRedirected)
    const body = init?.body ?? given?.body
    if (body instanceof ReadableStream && body.locked) oracle.report(`request ${number}: a body read twice`)
    else if (method === 'POST' && (await new Response(body).text()) !== 'payload') {
      oracle.report(`request ${number}: its body was changed`)
    }
    const behaviour = isCalm ? pick(['works', 'works', 'works', 'revokes tokens']) : pick(apiBehaviours)
    const isDeaf = chance(0.1)
    request.isDeaf ||= isDeaf
    await takeTime(behaviour === 'slow' ? between(1_000, 20_000) : between(1, 200), isDeaf ? null : signal)

    const respond = (status: number, more: Record<string, string> = {}, at = url): Response => {
      const response = new Response('', { status, headers: { ...more, request: String(number) } })
      return Object.defineProperty(response, 'url', { value: at.href })
    }
    const redirect = (to: string): Response => {
      const location = new URL(`${to}${path}${pick([1, 2, 3])}?request=${number}`)
      if (to !== origin || isRedirected) location.searchParams.set('redirected', '')
      return respond(pick([301, 302, 303, 307, 308]), { location: location.href })
    }
    const reject = (): Response => respond(401, { 'www-authenticate': 'Bearer error="invalid_token"' })
    switch (behaviour) {
      case 'revokes tokens':
        if (token === undefined) break
        oracle.revokeAll()
        return reject()
      case 'rejects':
        return reject()
      case 'lacks a scope':
        return respond(403, {
          'www-authenticate': `Bearer error="insufficient_scope", scope="${pick(['s2', 's3'])}"`,
        })
      case 'forbids':
        return respond(403)
      case 'is down':
        return respond(503)
      case 'is unreachable':
        throw new TypeError('fetch failed')
      case 'redirects':
        return redirect(origin)
      case 'redirects to the other API':
        return redirect(origin === origins.first ? origins.second : origins.first)
      case 'redirects to another origin':
        return redirect(origins.foreign)
      case 'is redirected by fetch': {
        // As in React Native, whose fetch follows every redirect: what came back says nothing about the token.
        if (token === undefined) break
        request.hasForeignResponse = true
        return respond(401, {}, new URL(origins.foreign))
      }
      case 'hangs':
        if (signal) await takeTime(60_000, signal)
        break
      case 'stalls':
      case 'slow':
      case 'works':
    }
    const needsToken = !isRedirected && oracle.allowedOrigins.includes(origin)
    if (needsToken && !oracle.isValid(token)) return reject()
    oracle.handle(number)
    return respond(pick([200, 204]) === 200 ? 200 : 201)
  }
}
