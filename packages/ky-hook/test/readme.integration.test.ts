import { runReadmeExample } from '@tokenwell/internal-testing/readme-example'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { expect, it } from 'vitest'

const servers = useTestServers()

it('runs the example in the README', async () => {
  await runReadmeExample(new URL('../', import.meta.url), {
    AUTH_URL: servers.endpoint.origin,
    API_URL: servers.api.origin,
    CLIENT_ID: 'a-client',
    CLIENT_SECRET: 'a-secret',
  })
  expect(servers.api.requests).toMatchObject([{ method: 'GET', url: '/v1/orders' }])
  expect(servers.api.tokens).toStrictEqual([servers.endpoint.issued[0]])
})
