import { createTokenFetch } from '@tokenwell/core'
import { describeAdapter, toFetchInit } from '@tokenwell/internal-testing/vitest'

describeAdapter({
  name: 'fetch',
  createClient(attach) {
    const send = attach ? createTokenFetch(attach.tokens, attach.options) : fetch
    return async ({ url, token, ...request }) => {
      const response = await send(url, { ...toFetchInit({ url, ...request }), ...(attach && { token }) })
      return { status: response.status, text: await response.text(), received: response }
    }
  },
  tokenErrorOf: (error) => error,
})
