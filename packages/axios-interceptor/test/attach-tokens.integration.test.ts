import { describeAdapter } from '@tokenwell/testing'
import { axiosUnderTest } from './axios-under-test.ts'

describeAdapter({ ...axiosUnderTest('axios over http', { adapter: 'http' }), cannotSend: ['web stream'] })

describeAdapter({
  // This adapter of axios says `ETIMEDOUT` whatever it is told; the option has the rest of axios say so too.
  ...axiosUnderTest('axios over fetch', { adapter: 'fetch', transitional: { clarifyTimeoutError: true } }),
  // It gives a cancellation the text of the signal's reason, where axios elsewhere says "canceled".
  essenceOf: ({ name, code }) => ({ name, code }),
  hidesAddress: true,
})
