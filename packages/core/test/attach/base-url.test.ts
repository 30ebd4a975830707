import { createTokenFetch } from '@tokenwell/core'
import { createTestTokenProvider } from '@tokenwell/core/testing'
import { expect, it, vi } from 'vitest'

/** What is sent for each of the inputs. */
async function sentFor(
  baseUrl: string | URL,
  inputs: readonly (string | URL | Request)[],
): Promise<string[]> {
  const sent: string[] = []
  const api = createTokenFetch(createTestTokenProvider(), {
    baseUrl,
    fetch: async (input, init) => {
      const { authorization } = Object.fromEntries(new Headers(init?.headers))
      sent.push(`${String(input instanceof Request ? input.url : input)} ${authorization ?? '-'}`)
      return new Response()
    },
  })
  for (const input of inputs) await api(input)
  return sent
}

it('appends a path to the base URL, to whose origin the token is sent', async () => {
  for (const baseUrl of ['https://api.example.com/v1', new URL('https://api.example.com/v1/')]) {
    expect(await sentFor(baseUrl, ['orders', '/orders', '', '?page=2', '#top'])).toStrictEqual([
      'https://api.example.com/v1/orders Bearer test-token',
      'https://api.example.com/v1/orders Bearer test-token',
      'https://api.example.com/v1 Bearer test-token',
      'https://api.example.com/v1?page=2 Bearer test-token',
      'https://api.example.com/v1#top Bearer test-token',
    ])
  }
})

it('sends an absolute URL as it is, with a token only to the origin of the base URL', async () => {
  expect(
    await sentFor('https://api.example.com/v1', [
      'https://api.example.com/other',
      new URL('https://api.example.com/v2'),
      new Request('https://api.example.com/v3'),
      'HTTPS://evil.example/orders',
      'https:evil.example/orders',
      'app://evil.example',
      'data:,x',
    ]),
  ).toStrictEqual([
    'https://api.example.com/other Bearer test-token',
    'https://api.example.com/v2 Bearer test-token',
    'https://api.example.com/v3 Bearer test-token',
    'https://evil.example/orders -',
    'https://evil.example/orders -',
    'app://evil.example -',
    'data:,x -',
  ])
})

it.each([
  ['orders:search', 'orders:'],
  ['localhost:3000/orders', 'localhost:'],
  ['mailto:a@example.com', 'mailto:'],
])('rejects %j, which is a URL with a scheme, not a path', async (input, scheme) => {
  const fetch = vi.fn(async () => new Response())
  const baseUrl = 'https://api.example.com/v1'
  for (const options of [{ baseUrl, fetch }, { baseUrl }]) {
    await expect(createTokenFetch(createTestTokenProvider(), options)(input)).rejects.toMatchObject({
      kind: 'configuration',
      message: `"${scheme}…" is a URL with a scheme, so baseUrl does not apply to it. For a path, write "/${scheme}…".`,
    })
  }
  expect(fetch).not.toHaveBeenCalled()
})

it('appends a path with a colon that does not look like a scheme', async () => {
  const inputs = ['/orders:search', 'orders/1:cancel', '?at=1:2', '1:cancel']
  expect(await sentFor('https://api.example.com/v1', inputs)).toStrictEqual([
    'https://api.example.com/v1/orders:search Bearer test-token',
    'https://api.example.com/v1/orders/1:cancel Bearer test-token',
    'https://api.example.com/v1?at=1:2 Bearer test-token',
    'https://api.example.com/v1/1:cancel Bearer test-token',
  ])
})

it('never leads to another origin by a path', async () => {
  const paths = [
    '\\\\evil.example',
    '/\\evil.example',
    '@evil.example',
    '.evil.example',
    ' https://evil.example',
    '../..',
  ]
  const sent = await sentFor('https://api.example.com', paths)
  expect(sent.map((line) => new URL(line.split(' Bearer')[0]!).origin)).toStrictEqual(
    paths.map(() => 'https://api.example.com'),
  )
})

it('leaves a protocol-relative URL to fetch, without a token', async () => {
  expect(await sentFor('https://api.example.com', ['//evil.example/orders'])).toStrictEqual([
    '//evil.example/orders -',
  ])
})

it('is not the allowed origin if others are listed', async () => {
  const authorizations: (string | null)[] = []
  const api = createTokenFetch(createTestTokenProvider(), {
    baseUrl: 'https://proxy.example/api',
    allowedOrigins: ['https://api.example.com'],
    fetch: async (_, init) => {
      authorizations.push(new Headers(init?.headers).get('authorization'))
      return new Response()
    },
  })
  await api('/orders')
  await api('https://api.example.com/orders')
  expect(authorizations).toStrictEqual([null, 'Bearer test-token'])
})

it.each([
  [
    undefined,
    'allowedOrigins is missing, and baseUrl is missing too. Set an absolute baseUrl, or allowedOrigins.',
  ],
  ['', 'allowedOrigins is missing, and baseUrl is missing too. Set an absolute baseUrl, or allowedOrigins.'],
  [
    '/api',
    'allowedOrigins is missing, and baseUrl "/api" has no origin. Set an absolute baseUrl, or allowedOrigins.',
  ],
  ['user:pass@api.example.com', 'allowedOrigins is missing, and baseUrl has no origin.'],
  ['https://api.example.com?x=1', 'baseUrl is not a valid base URL.'],
  ['https://user:pass@api.example.com', 'baseUrl is not a valid base URL.'],
  ['http://api.example.com', 'baseUrl must start with https://, because tokens are sent to it.'],
])('rejects the base URL %j', (baseUrl, message) => {
  expect(() => createTokenFetch(createTestTokenProvider(), { baseUrl })).toThrow(message)
})

it('takes a function, which is called with the first request', async () => {
  const url = vi.fn((): string | undefined => undefined)
  const fetch = vi.fn(async () => new Response())
  const api = createTokenFetch(createTestTokenProvider(), { baseUrl: url, fetch })
  expect(url).not.toHaveBeenCalled()
  await expect(api('/orders')).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringContaining('baseUrl is missing'),
  })
  url.mockReturnValue('https://api.example.com/v1')
  for (const path of ['/orders', '/items']) await api(path)
  expect(fetch.mock.calls).toMatchObject([
    ['https://api.example.com/v1/orders', { headers: { Authorization: 'Bearer test-token' } }],
    ['https://api.example.com/v1/items', {}],
  ])
  expect(url).toHaveBeenCalledTimes(2)
})
