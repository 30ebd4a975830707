import { casesOf, clientIdsOf, failuresOf } from './cases.js'

export default {
  async fetch(_request, environment) {
    const cases = casesOf(environment)
    const failures = await failuresOf(cases, clientIdsOf(200))
    return Response.json({ count: Object.keys(cases).length, failures })
  },
}
