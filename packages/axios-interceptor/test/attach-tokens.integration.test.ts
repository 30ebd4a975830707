import { attachTokens } from '@tokenwell/axios-interceptor'
import { createAxiosClient } from '@tokenwell/internal-testing/axios'
import { describeAdapter, type AdapterUnderTest } from '@tokenwell/internal-testing/vitest'
import * as axios from 'axios'

const axiosOver = (config: axios.CreateAxiosDefaults): AdapterUnderTest => ({
  name: `axios over ${String(config.adapter)}`,
  createClient(attach) {
    const instance = axios.create(config)
    if (attach) attachTokens(instance, attach.tokens, attach.options)
    return createAxiosClient((request) => instance.request(request))
  },
  tokenErrorOf: (error) => (axios.isAxiosError(error) ? error.cause : undefined),
})

describeAdapter({ ...axiosOver({ adapter: 'http' }), cannotSend: ['web stream'] })

describeAdapter({
  // This adapter of axios always reports `ETIMEDOUT`; with this option the rest of axios does too.
  ...axiosOver({ adapter: 'fetch', transitional: { clarifyTimeoutError: true } }),
  // Its cancellation has the message of the signal's reason, while the rest of axios uses "canceled".
  comparableError: ({ name, code }) => ({ name, code }),
})
