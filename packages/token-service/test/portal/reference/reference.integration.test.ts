import { expect, it } from 'vitest'
import { testService, tokenPath } from '../../test-service.ts'

async function reference(options: Parameters<typeof testService>[0] = {}) {
  const { authUrl } = await testService({ portal: true, ...options })
  const response = await fetch(`${authUrl}/reference`)
  const text = await response.text()
  const attribute = /data-configuration="([^"]+)"/.exec(text)?.[1] ?? ''
  const json = attribute.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<')
  const description = JSON.parse(json.replaceAll('&gt;', '>').replaceAll('&amp;', '&')).content
  return { authUrl, response, text, description }
}

it('is described with snippets in four languages, and examples of both responses and each error', async () => {
  const { authUrl, response, description } = await reference()
  expect(response.url).toBe(`${authUrl}/portal/reference`)
  const { post } = description.paths[tokenPath]
  const samples = post['x-codeSamples'] as { label: string; source: string }[]
  expect(samples.map(({ label }) => label)).toEqual(['curl', 'TypeScript', 'Python', 'Go'])
  for (const { source } of samples) {
    expect(source).toContain(`${authUrl}${tokenPath}?grant_type=client_credentials`)
    expect(source).toContain('YOUR_CLIENT_SECRET')
  }
  const examples = (status: number) => post.responses[status].content['application/json'].examples
  expect(Object.keys(examples(200))).toEqual(['products', 'refresh', 'rfc6749'])
  expect(examples(401).invalid_client.value).toEqual({
    ErrorCode: 'invalid_client',
    Error: 'ClientId is Invalid',
  })
  for (const status of [400, 401, 405, 413, 415, 429, 503])
    expect(Object.keys(examples(status))).not.toHaveLength(0)
})

it('can be read before its script has been loaded', async () => {
  const { authUrl, text, description } = await reference()
  const visible = text.slice(text.indexOf('data-scalar='))
  const plain = visible.replaceAll(/<[^>]*>/g, '').replaceAll('&#39;', "'")
  for (const path of Object.keys(description.paths)) {
    const { post } = description.paths[path]
    const { properties } = post.requestBody.content['application/x-www-form-urlencoded'].schema
    const [{ source }] = post['x-codeSamples']
    const responses = Object.values<{ description: string }>(post.responses)
    const texts = [path, post.summary, source.split('\n')[0], ...Object.keys(properties)]
    for (const each of [...texts, ...responses.map(({ description: about }) => about.replaceAll('`', ''))])
      expect(plain).toContain(each)
  }
  expect(plain).toContain(`${authUrl}/oauth/introspect`)
  expect(text).not.toContain('token-service.invalid')
})

it('shows the configured error format', async () => {
  const { description } = await reference({ errors: 'rfc6749' })
  const { examples } = description.paths[tokenPath].post.responses[401].content['application/json']
  expect(examples.invalid_client.value).toMatchObject({ error: 'invalid_client' })
})

it('loads nothing from other sites, allows no inline script, and is not cached', async () => {
  const { authUrl, response, text } = await reference()
  const policy = response.headers.get('content-security-policy') ?? ''
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; /)
  expect(policy).toContain("connect-src 'self'")
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(text).not.toMatch(/<style|\son\w+=|<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?\/\//)
  const script = /data-scalar="([^"]+scalar\.js[^"]+)"/.exec(text)?.[1] ?? ''
  for (const encoding of ['br', 'identity']) {
    const file = await fetch(authUrl + script, { headers: { 'accept-encoding': encoding } })
    expect(file.headers.get('cache-control')).toContain('immutable')
    expect((await file.text()).length).toBeGreaterThan(1_000_000)
  }
})

it('stays under the path of the public URL', async () => {
  const { authUrl } = await testService({
    portal: true,
    publicUrl: 'https://auth.example.com/tokens',
  })
  const response = await fetch(`${authUrl}/reference`, { redirect: 'manual' })
  expect(response.headers.get('location')).toBe('/tokens/portal/reference')
  const text = await (await fetch(`${authUrl}/portal/reference`)).text()
  expect(text).toContain('https://auth.example.com/tokens')
  expect(text).not.toMatch(/(?:href|src|action)="\/(?!tokens\/)/)
})
