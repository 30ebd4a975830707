import { attachTokens } from '@tokenwell/axios-interceptor'
import { createAxiosClient } from '@tokenwell/internal-testing/axios'
import { describeAdapter, type AdapterUnderTest } from '@tokenwell/test-suite'
import { create, isAxiosError, type CreateAxiosDefaults } from 'axios'

const axiosOver = (config: CreateAxiosDefaults): AdapterUnderTest => ({
  name: `axios over ${String(config.adapter)}`,
  createClient(attach) {
    const instance = create(config)
    if (attach) attachTokens(instance, attach.tokens, attach.options)
    return createAxiosClient((request) => instance.request(request))
  },
  tokenErrorOf: (error) => (isAxiosError(error) ? error.cause : undefined),
})

describeAdapter({ ...axiosOver({ adapter: 'http' }), cannotSend: ['web stream'] })

describeAdapter({
  // This adapter of axios says `ETIMEDOUT` whatever it is told; the option has the rest of axios say so too.
  ...axiosOver({ adapter: 'fetch', transitional: { clarifyTimeoutError: true } }),
  // It gives a cancellation the text of the signal's reason, where axios elsewhere says "canceled".
  comparableError: ({ name, code }) => ({ name, code }),
  hidesResponseUrl: true,
})
