import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import { waitUntil } from 'cloudflare:workers'

// In module scope, as the documentation of Workers recommends: all requests share the providers.
const providers = new Map()

function providerOf(name, authUrl) {
  const tokens =
    providers.get(name) ??
    createTokenProvider(
      clientCredentials({ authUrl: `${authUrl}-${name}`, clientId: 'c', clientSecret: 'secret' }),
      { ...(name.startsWith('wait-until') && { waitUntil }) },
    )
  providers.set(name, tokens)
  return tokens
}

export default {
  async fetch(request, { PLATFORM }) {
    const [, action, name] = new URL(request.url).pathname.split('/')
    const tokens = providerOf(name, PLATFORM)
    if (action === 'leave') {
      await Promise.race([
        tokens.getToken().catch(() => {}),
        new Promise((resolve) => setTimeout(resolve, 50)),
      ])
      return new Response('left')
    }
    const apiFetch = createTokenFetch(tokens, { allowedOrigins: [new URL(PLATFORM).origin] })
    try {
      const response = await apiFetch(`${PLATFORM}-${name}/api/orders`)
      return new Response(await response.text(), { status: response.status })
    } catch (error) {
      return new Response(String(error?.stack), { status: 500 })
    }
  },
}
