// Next.js: app/orders/page.tsx, a server component. Its HTML goes to the browser; the token and the secret do not.
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'

// In a separate module, with `import 'server-only'`, if several pages share the provider.
const tokens = createTokenProvider(
  clientCredentials({
    authUrl: () => process.env['AUTH_URL']!,
    clientId: () => process.env['CLIENT_ID']!,
    clientSecret: () => process.env['CLIENT_SECRET']!,
  }),
)
const apiFetch = createTokenFetch(tokens, {
  allowedOrigins: [({ origin }) => origin === process.env['API_URL']],
})

// oxlint-disable-next-line import/no-default-export -- Next.js requires it
export default async function OrdersPage() {
  const response = await apiFetch(`${process.env['API_URL']}/v1/orders`, { cache: 'no-store' })
  if (!response.ok) throw new Error(`The API responded with ${response.status}`)
  const orders = (await response.json()) as { id: number; item: string }[]
  return (
    <ul>
      {orders.map(({ id, item }) => (
        <li key={id}>{item}</li>
      ))}
    </ul>
  )
}
