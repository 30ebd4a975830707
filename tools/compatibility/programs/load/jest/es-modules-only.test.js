const { clientCredentials } = require('@tokenwell/core')
const { tokenHooks } = require('@tokenwell/ky-hook')
const { default: ky } = require('ky')
const { credentials } = require('../use-packages.js')

test('requires ky and its hook', async () => {
  const { API_URL } = process.env
  const tokens = clientCredentials(credentials)
  const api = ky.extend(tokenHooks(tokens, { allowedOrigins: [API_URL] }))
  expect(await api.get(`${API_URL}/v1/orders`).json()).toHaveLength(2)
  await tokens.close()
})
