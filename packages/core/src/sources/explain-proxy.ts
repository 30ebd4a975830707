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

/** A sentence about the proxy that caused a failed request or cannot be reached, or that Node ignores. */
export function explainProxy(error: unknown, code: string, url: string | URL): string | undefined {
  const status = connectStatus(error)
  if (status !== undefined) {
    const what = `The proxy responded to CONNECT with status ${status}.`
    return advice[status] === undefined ? what : `${what} ${advice[status]}`
  }
  // Neither browsers nor Workers have it; nor is it there when a bundler replaces it.
  const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {}
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
