import { clientCredentials, createTokenFetch } from '@tokenwell/core'
import { waitUntil } from 'cloudflare:workers'

// In module scope, as the documentation of Workers recommends: all requests share the providers.
const providers = new Map()

function providerOf(name, { AUTH_URL, CLIENT_SECRET }) {
  const tokens =
    providers.get(name) ??
    clientCredentials({
      authUrl: AUTH_URL,
      clientId: name,
      clientSecret: CLIENT_SECRET,
      ...(name.startsWith('wait-until') && { waitUntil }),
    })
  providers.set(name, tokens)
  return tokens
}

export default {
  async fetch(request, environment) {
    const [, action, name] = new URL(request.url).pathname.split('/')
    const tokens = providerOf(name, environment)
    if (action === 'leave') {
      await Promise.race([
        tokens.getToken().catch(() => {}),
        new Promise((resolve) => setTimeout(resolve, 50)),
      ])
      return new Response('left')
    }
    const { API_URL } = environment
    const apiFetch = createTokenFetch(tokens, { allowedOrigins: [API_URL] })
    try {
      const response = await apiFetch(`${API_URL}/v1/orders/${name}`)
      return new Response(await response.text(), { status: response.status })
    } catch (error) {
      return new Response(String(error?.stack), { status: 500 })
    }
  },
}
