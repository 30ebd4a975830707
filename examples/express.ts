// A backend that issues short-lived tokens to its own page. The client secret stays on the server.
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import {
  clientCredentials,
  credentialsFrom,
  isRejectedByPage,
  tokenResponseBody,
} from '@tokenwell/core'
import express from 'express'

// A separate application for the page: everybody who opens the page can read its token, so it expires
// soon and covers only the products that the page needs.
const tokens = clientCredentials(credentialsFrom(process.env, { prefix: 'PAGE_' }))

const app = express()

// Check the session before this, and respond with 401 without one.
app.post('/token', async (request, response) => {
  // The API rejected the page's token: do not return the same token again.
  const current = tokens.peekToken()
  if (current && (await isRejectedByPage(current, request.get('x-token-rejected'))))
    tokens.reject(current)
  const token = await tokens.getToken({ minimumValidityMs: 60_000 })
  response.set('cache-control', 'no-store').json(tokenResponseBody(token))
})

app.get('/core.js', (_request, response) => {
  response.sendFile(fileURLToPath(import.meta.resolve('@tokenwell/core')))
})

app.get('/', (_request, response) => {
  response.type('html').send(`<!doctype html>
<html lang="en">
  <title>Orders</title>
  <h1>Orders</h1>
  <p id="orders">…</p>
  <script type="module">
    import { backendTokens, createTokenFetch } from '/core.js'

    const baseUrl = ${JSON.stringify(process.env.API_URL)}
    const apiFetch = createTokenFetch(backendTokens({ url: '/token' }), { baseUrl })
    const response = await apiFetch('/v1/orders')
    const orders = await response.json()
    document.querySelector('#orders').textContent = orders.map(({ item }) => item).join(', ')
  </script>
</html>`)
})

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  console.log(`Open http://127.0.0.1:${port}`)
})
