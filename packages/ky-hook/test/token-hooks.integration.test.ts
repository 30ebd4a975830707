import { describeAdapter, toFetchInit } from '@tokenwell/internal-testing/vitest'
import { tokenHooks } from '@tokenwell/ky-hook'
import ky, { HTTPError } from 'ky'

describeAdapter({
  name: 'ky',
  createClient(attach) {
    // The usual time limit of 10 s is too short for hundreds of requests on a busy machine.
    const plain = ky.create({ retry: { limit: 2, statusCodes: [] }, timeout: 60_000 })
    const api = attach ? plain.extend(tokenHooks(attach.tokens, attach.options)) : plain
    return async ({ url, token, timeoutMs, ...request }) => {
      const { signal, body, ...init } = toFetchInit({ url, ...request })
      const options = {
        ...init,
        ...(signal && { signal }),
        ...(request.body?.kind === 'json' ? { json: request.body.value } : { body: body ?? null }),
        ...(timeoutMs !== undefined && { timeout: timeoutMs }),
        ...(token === false && { context: { token } }),
      }
      try {
        const response = await api(url, options)
        return { status: response.status, text: await response.text(), received: response }
      } catch (error) {
        if (!(error instanceof HTTPError)) throw error
        const text = typeof error.data === 'string' ? error.data : JSON.stringify(error.data ?? '')
        return { status: error.response.status, text, received: error }
      }
    }
  },
  tokenErrorOf: (error) => error,
})
