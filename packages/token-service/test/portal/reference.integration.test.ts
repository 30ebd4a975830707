import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { testService, tokenPath } from '../test-service.ts'
import {
  createApplication,
  createProject,
  plainText,
  startPortal,
  useCheapPasswords,
} from './portal-browser.ts'

useCheapPasswords()

async function reference(options: Parameters<typeof testService>[0] = {}) {
  const { authUrl } = await testService({ portal: true, ...options })
  const response = await fetch(`${authUrl}/reference`)
  const markup = await response.text()
  return { authUrl, response, markup, text: plainText(markup) }
}

/** The descriptions, names of fields and headers, and examples anywhere in a part of the document. */
function described(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([name, value]) => {
    if (name === 'description') return [String(value).replaceAll('`', '')]
    if (name === 'value') return [JSON.stringify(value, null, 2)]
    const isNaming = name === 'properties' || name === 'headers' || name === 'responses'
    return [...(isNaming ? Object.keys(value as object) : []), ...described(value)]
  })
}

it('shows what the OpenAPI document says: each path, field, response, header and example', async () => {
  const { authUrl, response, text } = await reference()
  expect(response.url).toBe(`${authUrl}/portal/reference`)
  const { paths } = parse(await (await fetch(`${authUrl}/openapi.yaml`)).text()) as { paths: object }
  expect(Object.keys(paths)).toContain(tokenPath)
  const all = described(paths)
  expect(all.length).toBeGreaterThan(100)
  for (const path of Object.keys(paths)) expect(text).toContain(`${authUrl}${path}`)
  for (const each of all) expect(text).toContain(each)
})

it('gives each tab of a list its own name', async () => {
  const { markup } = await reference()
  const lists = [...markup.matchAll(/<fieldset>(.*?)<\/fieldset>/gs)].map(([, list = '']) =>
    [...list.matchAll(/<label[^>]*>(.*?)<\/label/gs)].map(([, label = '']) => plainText(label).trim()),
  )
  expect(lists.length).toBeGreaterThan(5)
  for (const list of lists) expect(new Set(list).size, list.join(', ')).toBe(list.length)
})

it('has snippets that name the service and the fields', async () => {
  const { authUrl, markup, text } = await reference()
  for (const language of ['curl', 'typescript']) {
    const snippet = new RegExp(`id="getAccessToken-snippet-${language}">(.*?)</code>`, 's').exec(markup)?.[1]
    expect(plainText(snippet ?? '')).toContain(`${authUrl}${tokenPath}?grant_type=client_credentials`)
    expect(snippet).toContain('YOUR_CLIENT_SECRET')
  }
  expect(text).toContain('YOUR_ACCESS_TOKEN')
})

it('has a form for developers who are logged in alone, which offers their applications', async () => {
  const { admin, developer, newBrowser } = await startPortal()
  const application = await createApplication(admin, await createProject(admin), { name: 'Transcriber' })
  const signedOut = (await newBrowser().get('/portal/reference')).text
  expect(signedOut).not.toContain('data-try')
  expect(signedOut).toContain('/portal/log-in?next=%2Fportal%2Freference')
  const { text } = await admin.get('/portal/reference')
  const form = /<form[^>]+data-try="getAccessToken".*?<\/form>/s.exec(text)?.[0] ?? ''
  expect(form).toContain('action="/portal/reference/token"')
  expect(form).not.toContain('client_secret')
  // The only one is chosen.
  expect(form).toMatch(/name="client_id"[^>]* value="Transcriber"/)
  const project = await createProject(admin, 'Second')
  const twin = await createApplication(admin, project, { name: 'Transcriber' })
  await createApplication(admin, project, { name: 'Reader' })
  const more = (await admin.get('/portal/reference')).text
  expect(more).toMatch(/name="client_id"[^>]* value=""/)
  for (const { clientId } of [application, twin])
    expect(more).toContain(`<option value="Transcriber (${clientId})">`)
  const opened = (await admin.get(`/portal/reference?client=${twin.clientId}`)).text
  expect(opened).toContain(`value="Transcriber (${twin.clientId})"`)
  const grace = await developer('grace')
  expect((await grace.get('/portal/reference')).text).not.toContain(application.clientId)
})

it('shows the configured error format', async () => {
  expect((await reference()).text).toContain('"Error": "ClientId is Invalid"')
  const { text } = await reference({ format: 'standard' })
  expect(text).toContain('"error": "invalid_client"')
  expect(text).not.toContain('"Error": ')
})

it('loads nothing from other sites, and allows no inline script', async () => {
  const { response, markup } = await reference()
  const policy = response.headers.get('content-security-policy') ?? ''
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /)
  expect(policy).toContain("connect-src 'self'")
  expect(markup).not.toMatch(
    /<style|\sstyle=|\son\w+=|<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?\/\//,
  )
})

it.each(['/portal/reference', '/openapi.yaml', '/openapi.json'])(
  'renders %s once for each URL, and confirms with its ETag that a copy is still right',
  async (path) => {
    const { authUrl } = await testService({ portal: true })
    const first = await fetch(authUrl + path)
    expect(first.headers.get('cache-control')).toBe('no-cache')
    expect(first.headers.getSetCookie()).toEqual([])
    const text = await first.text()
    expect(text).not.toContain('csrf')
    const etag = first.headers.get('etag') ?? ''
    const plain = await fetch(authUrl + path, { headers: { 'accept-encoding': 'identity' } })
    expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, text])
    const headers = { 'if-none-match': `"other", ${etag}` }
    const again = await fetch(authUrl + path, { headers })
    expect([again.status, await again.text()]).toEqual([304, ''])
    // Another name of this machine is another base URL.
    const { port } = new URL(authUrl)
    const other = await fetch(`http://localhost:${port}${path}`, { headers })
    expect(other.status).toBe(200)
    expect(await other.text()).toContain(`http://localhost:${port}`)
  },
)

it('is not kept for somebody who is logged in, nor with what it confirms', async () => {
  const { admin, newBrowser } = await startPortal()
  await createApplication(admin, await createProject(admin))
  const browser = newBrowser()
  browser.cookies.set('tokenwell_portal_notice', 'logged_out')
  const notified = await browser.get('/portal/reference')
  expect(notified.text).toContain('You are logged out.')
  const own = await admin.get('/portal/reference')
  for (const { headers } of [notified, own])
    expect([headers.get('cache-control'), headers.get('etag')]).toEqual(['no-store', null])
  expect(own.text).toContain('csrf_token')
  const { text } = await newBrowser().get('/portal/reference')
  expect(text).not.toMatch(/csrf_token|You are logged out/)
})

it('links to the document as YAML and as JSON, which say the same', async () => {
  const { authUrl, markup } = await reference()
  const [yaml, json] = await Promise.all(
    ['yaml', 'json'].map(async (type) => {
      expect(markup).toContain(`href="/openapi.${type}"`)
      return (await fetch(`${authUrl}/openapi.${type}`)).text()
    }),
  )
  expect(JSON.parse(json ?? '')).toEqual(parse(yaml ?? ''))
})

it('stays under the path of the public URL', async () => {
  const { authUrl } = await testService({ portal: true, publicUrl: 'https://auth.example.com/tokens' })
  const response = await fetch(`${authUrl}/reference`, { redirect: 'manual' })
  expect(response.headers.get('location')).toBe('/tokens/portal/reference')
  const text = await (await fetch(`${authUrl}/portal/reference`)).text()
  expect(text).toContain('https://auth.example.com/tokens')
  expect(text).not.toMatch(/(?:href|src|action)="\/(?!tokens\/)/)
})
