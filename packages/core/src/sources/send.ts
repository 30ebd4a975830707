import { environment, noStore } from '../runtime/environment.ts'
import type { TokenEndpointResponse } from '../protocol/token-binding.ts'
import { redactText } from '../protocol/error-response.ts'
import { failureOf, TokenError } from '../protocol/token-error.ts'
import { messageWithoutCode } from '../runtime/error-code.ts'
import { whileWaiting } from '../runtime/wait.ts'

const maxBytes = 1024 * 1024

/**
 * `fetch`, or a function that is called like it: that of undici or node-fetch, or a mock. They declare types of their own for a
 * request and a response, which differ from those of the runtime, so these are not checked. Token requests pass the URL as a
 * string.
 */
// oxlint-disable-next-line typescript/no-explicit-any
export type FetchLike = (input: any, init?: any) => Promise<any>

/** What responds to a request. */
export type Endpoint = 'token endpoint' | 'revocation endpoint' | 'metadata'

/**
 * Sends a token request, or one that it depends on, and reads the response.
 *
 * @param secrets what was sent and must not be shown
 */
export async function sendTokenRequest(
  send: FetchLike | undefined,
  url: string | URL,
  init: RequestInit & { readonly signal: AbortSignal },
  endpoint: Endpoint = 'token endpoint',
  clientId?: string,
  secrets: readonly string[] = [],
): Promise<TokenEndpointResponse> {
  const request = async (): Promise<TokenEndpointResponse> => {
    const response = await fetchToken(send, url, init)
    return { status: response.status, headers: response.headers, body: await readBody(response) }
  }
  try {
    return await whileWaiting(init.signal, () => `The ${endpoint} ${withoutQuery(url)}`, request())
  } catch (error) {
    const unreachable: Unreachable = { url, endpoint, clientId, secrets, isOwnFetch: send === undefined }
    throw failureOf(error, (code) => unreachableError(error, code, unreachable))
  }
}

/** What could not be reached. */
interface Unreachable {
  readonly url: string | URL
  readonly endpoint: Endpoint
  readonly clientId: string | undefined
  readonly secrets: readonly string[]
  readonly isOwnFetch: boolean
}

/** The code of a failure, and what it says if it has none: such as `TypeError: url.includes is not a function`. */
export function failureDetail(error: unknown, code: string, secrets: readonly string[]): string {
  const text = redactText(messageWithoutCode(error) ?? '', secrets, 200).replace(/\.$/, '')
  return text === '' || text === code ? code : `${code}: ${text}`
}

/** Requests a token, never from a cache. Redirects are not followed: they would carry the secret along. */
export async function fetchToken(
  send: FetchLike | undefined,
  url: string | URL,
  init: RequestInit,
): Promise<Response> {
  // Without a token, if this is a fetch that attaches them: the request would wait for itself.
  const sent: RequestInit & { token: false } = {
    ...init,
    ...noStore(),
    redirect: 'manual',
    token: false,
  }
  // Looked up now, so that a fetch replaced by instrumentation or by a test is used. A mock may expect a string.
  const request = async (init: RequestInit): Promise<Response> =>
    (send ?? globalThis.fetch)(String(url), init) as Promise<Response>
  try {
    return await request(sent)
  } catch (error) {
    if (!isForeignSignal(error)) throw error
    // The caller that waits for the response has its own time limit.
    return request({ ...sent, signal: null })
  }
}

/** jsdom replaces `AbortController` by its own, whose signals `fetch` of Node rejects before it sends anything. */
function isForeignSignal(error: unknown): boolean {
  const { name, message } = Object(error) as { name?: unknown; message?: unknown }
  return name === 'TypeError' && /\bAbortSignal\b/.test(String(message))
}

function unreachableError(
  error: unknown,
  code: string,
  { url, endpoint, clientId, secrets, isOwnFetch }: Unreachable,
): TokenError {
  const tokenEndpoint = withoutQuery(url)
  const detail = failureDetail(error, code, secrets)
  return new TokenError(
    {
      kind: 'unavailable',
      message: [
        unreachableMessage(code, detail, endpoint, tokenEndpoint),
        explainTest(code),
        isOwnFetch && explainProxy(error, code, url),
      ]
        .filter(Boolean)
        .join(' '),
      clientId,
      tokenEndpoint,
    },
    Object.assign(new Error(detail), { code }),
  )
}

function unreachableMessage(code: string, detail: string, endpoint: Endpoint, url: string): string {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    const host = URL.canParse(url) ? new URL(url).hostname : url
    return `Could not resolve ${host} (${code}). Check the URL of the ${endpoint}.`
  }
  return `Could not reach the ${endpoint} ${url} (${detail}).`
}

export function withoutQuery(url: string | URL): string {
  return String(url).replace(/[?#].*/s, '')
}

/**
 * Reads the body of a response as text, at most 1 MiB, counted as it arrives.
 *
 * @throws {TokenError} of kind `malformed` for a larger one
 */
export async function readBody(response: Response): Promise<string> {
  const reader = response.body?.getReader?.()
  if (reader === undefined) return response.text()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > maxBytes) {
      reader.cancel().catch(() => {})
      throw new TokenError({
        kind: 'malformed',
        message: `The response is larger than 1 MiB (${response.status}). Check the URL${response.url && ` ${withoutQuery(response.url)}`}.`,
        status: response.status,
      })
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** Codes of connections that cannot be opened: to the server, by a machine behind a proxy, or to the proxy. */
const unreachableCodes = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
])

const advice: Readonly<Record<number, string>> = {
  403: 'Allow this host in the configuration of the proxy.',
  407: "Put the proxy's user name and password into its URL.",
  502: 'The proxy cannot reach this host.',
}

/** A sentence about a test whose code requests a real token: the host does not exist, or a library blocks requests. */
function explainTest(code: string): string | undefined {
  if (!['ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH'].includes(code)) return undefined
  const { VITEST, JEST_WORKER_ID, NODE_TEST_CONTEXT } = environment()
  if ((VITEST ?? JEST_WORKER_ID ?? NODE_TEST_CONTEXT) === undefined) return undefined
  return `In a test, use createTestTokenProvider() instead of a real client (${testingPage}).`
}

const testingPage = 'https://github.com/tokenwell/tokenwell/blob/main/docs/testing.md'

/** A sentence about the proxy that caused a failed request or cannot be reached, or that Node ignores. */
function explainProxy(error: unknown, code: string, url: string | URL): string | undefined {
  const status = connectStatus(error)
  if (status !== undefined) {
    const what = `The proxy responded to CONNECT with status ${status}.`
    return advice[status] === undefined ? what : `${what} ${advice[status]}`
  }
  const env = environment()
  const names = String(url).startsWith('https:')
    ? ['HTTPS_PROXY', 'https_proxy']
    : ['HTTP_PROXY', 'http_proxy']
  const name = names.find((each) => env[each])
  const isUsed = env['NODE_USE_ENV_PROXY'] === '1' || /--use-env-proxy/.test(env['NODE_OPTIONS'] ?? '')
  if (name === undefined || !unreachableCodes.has(code)) return undefined
  return isUsed
    ? `Check the proxy in ${name}: the connection is to it, unless NO_PROXY names this host.`
    : `${name} is set, but Node uses it only with NODE_USE_ENV_PROXY=1.`
}

/** Undici reports the status of a failed CONNECT in a message alone. */
function connectStatus(error: unknown): number | undefined {
  for (let depth = 0; depth < 5 && typeof error === 'object' && error !== null; depth++) {
    const { message, cause } = error as { message?: unknown; cause?: unknown }
    const [, status] = /^Proxy response \((\d{3})\)/.exec(String(message)) ?? []
    if (status !== undefined) return Number(status)
    error = cause
  }
  return undefined
}
