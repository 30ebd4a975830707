import { parse } from 'yaml'
import { expect, it } from 'vitest'
import { developerPortal } from '@tokenwell/developer-portal'
import { testService, tokenPath } from '../../../token-service/test/test-service.ts'

async function reference(options: Parameters<typeof testService>[0] = {}) {
  const { authUrl } = await testService({ portal: developerPortal, ...options })
  const response = await fetch(`${authUrl}/reference`)
  const description = parse(await (await fetch(`${authUrl}/openapi.yaml`)).text())
  return { authUrl, response, text: await response.text(), description }
}

it('has a form for every operation, with the fields of its schema', async () => {
  const { text, description } = await reference()
  const paths = Object.entries<any>(description.paths) // eslint-disable-line typescript/no-explicit-any -- a document
  expect(paths).toHaveLength(3)
  for (const [path, { post }] of paths) {
    const form = new RegExp(
      `<form[^>]+action="([^"]+)"[^>]+data-operation="${post.operationId}".*?</form>`,
      's',
    ).exec(text)
    expect(form?.[1]?.split('?')[0]).toBe(path)
    const { properties } = post.requestBody.content['application/x-www-form-urlencoded'].schema
    const names = [...(form?.[0] ?? '').matchAll(/<input[^>]+?name="([^"]+)"/gs)].map(([, name]) => name)
    expect(names).toEqual(Object.keys(properties))
    expect(text).toContain(post.summary)
  }
  const fields = Object.keys(description.components.schemas.TokenResponse.anyOf[0].properties)
  for (const field of fields) expect(text).toContain(`<code>${field}</code>`)
})

it('sends the token request as clients do, without its script too', async () => {
  const { text } = await reference()
  expect(text).toContain(`action="${tokenPath}?grant_type=client_credentials"`)
})

it('masks secret fields, and prefills none', async () => {
  const { text } = await reference()
  const inputs = text.match(/<input[^>]+>/g) ?? []
  const secret = inputs.filter((input) => /name="(client_secret|token)"/.test(input))
  expect(secret).toHaveLength(5)
  for (const input of secret) expect(input).toMatch(/type="password"/)
  for (const input of inputs) expect(input).not.toMatch(/value=|\{\{/)
})

it('shows the configured shape of errors', async () => {
  expect((await reference()).text).toContain('<code>ErrorCode</code>')
  expect((await reference({ errors: 'rfc6749' })).text).not.toContain('<code>ErrorCode</code>')
})

it('loads nothing from other sites, and is not cached', async () => {
  const { response, text } = await reference()
  expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|(?:src|href)="(?:https?:)?\/\//)
})

it('stays under the path of the public URL', async () => {
  const { text } = await reference({ publicUrl: 'https://auth.example.com/tokens' })
  expect(text).toContain(`action="/tokens${tokenPath}?grant_type=client_credentials"`)
  expect(text).toContain('<code>https://auth.example.com/tokens</code>')
  expect(text).not.toMatch(/(?:href|src|action)="\/(?!tokens\/)/)
})
