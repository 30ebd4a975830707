// Prints how many bytes of heap remain after many failed requests that share one signal or cancel token.
// Plain JavaScript over the built files, so that every version of Node runs it: node --expose-gc … [plain|tokens] [count]
import { attachTokens } from '@tokenwell/axios-interceptor'
import { createTokenProvider } from '@tokenwell/core'
import { AxiosError, CanceledError, CancelToken, create } from 'axios'

const [kind, count] = [process.argv[2], Number(process.argv[3])]
let issued = 0
const tokens = createTokenProvider({
  cacheKey: async () => 'key',
  requestToken: async () => ({
    accessToken: `token-${++issued}`,
    tokenType: 'Bearer',
    expiresIn: 3600,
    scope: [],
  }),
})
const shared = new AbortController()
const source = CancelToken.source()

/** Fails each request in one of four ways. */
async function adapter(config) {
  const fail = (code, status) => {
    const response = status && { status, statusText: '', headers: {}, data: '{}', config }
    return Promise.reject(new AxiosError(code, code, config, undefined, response))
  }
  switch (config.url) {
    case '/rejected':
      return fail('ERR_BAD_REQUEST', 401)
    case '/missing':
      return fail('ERR_BAD_REQUEST', 404)
    case '/slow':
      return fail('ECONNABORTED')
    default:
      throw new CanceledError('aborted', config)
  }
}

const api = create({ baseURL: 'https://api.example.com', adapter })
if (kind === 'tokens') attachTokens(api, tokens)
const urls = ['/rejected', '/missing', '/slow', '/aborted']

async function send(requests) {
  for (let sent = 0; sent < requests; sent++) {
    const cancellation = sent % 8 < 4 ? { signal: shared.signal } : { cancelToken: source.token }
    await api.get(urls[sent % 4], { timeout: 5_000, ...cancellation }).catch(() => {})
  }
}

async function heapUsed() {
  for (let round = 0; round < 5; round++) {
    // Finalizers and timers of the requests run in between.
    await new Promise((resolve) => setTimeout(resolve, 20))
    globalThis.gc()
  }
  return process.memoryUsage().heapUsed
}

await send(2_000)
const before = await heapUsed()
await send(count)
process.stdout.write(String((await heapUsed()) - before))
await tokens.close()
