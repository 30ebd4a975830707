import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import type { ApplicationOptions } from '@tokenwell/token-service'
import {
  administeredService,
  application,
  basic,
  introspect,
  postForm,
  resourceServer,
  testService,
  tokenPath,
} from '../test-service.ts'
import { startPortal, useCheapPasswords } from '../portal/portal-browser.ts'

useCheapPasswords()

const orders = 'https://orders.example.com'
const billing = 'https://billing.example.com'
const scopes = [
  { name: 'orders:read', audience: orders, description: 'Reads orders' },
  { name: 'orders:write', audience: orders },
  { name: 'bills:read', audience: billing },
  'profile',
]
const all = ['orders:read', 'orders:write', 'bills:read', 'profile']

type Format = NonNullable<ApplicationOptions['tokenFormat']>

async function service(tokenFormat: Format, changes: Partial<ApplicationOptions> = {}) {
  const audiences = [orders, billing]
  const registered: ApplicationOptions = {
    ...application,
    scopes: all,
    audiences,
    tokenFormat,
    responseForm: 'rfc6749',
  }
  const { authUrl } = await testService({
    format: 'standard',
    scopes,
    applications: [{ ...registered, ...changes }],
  })
  return async (form: Record<string, string> | string = {}) => {
    const query = new URLSearchParams(form)
    query.set('client_id', application.clientId)
    query.set('client_secret', application.clientSecret)
    const { status, body } = await postForm(
      `${authUrl}${tokenPath}?grant_type=client_credentials`,
      query.toString(),
    )
    if (status !== 200) return `${status} ${body.error}: ${body.error_description}`
    const { aud, scope } = (await introspect(authUrl, body.access_token)).body
    if (tokenFormat === 'jwt')
      expect(decodeJwt(body.access_token)).toMatchObject({ aud, ...(scope && { scope }) })
    expect(body.scope ?? '').toBe(scope)
    return [aud, scope]
  }
}

const ofSeveral =
  '400 invalid_scope: The scopes belong to several APIs; request those of one, or name the API with resource'
const unknown = '400 invalid_scope: A requested scope is unknown, or is not granted to the application'

describe.each<Format>(['opaque', 'jwt'])('scopes of an API (%s)', (format) => {
  it('are only in tokens for that API', async () => {
    const request = await service(format)
    expect(await request({ resource: orders })).toEqual([orders, 'orders:read orders:write profile'])
    expect(await request({ resource: billing })).toEqual([billing, 'bills:read profile'])
    expect(await request({ resource: billing, scope: 'bills:read' })).toEqual([billing, 'bills:read'])
    expect(await request({ resource: billing, scope: 'bills:read orders:read' })).toBe(unknown)
    expect(await request({ resource: 'https://elsewhere.example.com' })).toMatch(/^400 invalid_target/)
  })

  it('say which API a token without a resource is for', async () => {
    const request = await service(format)
    expect(await request({ scope: 'orders:read' })).toEqual([orders, 'orders:read'])
    expect(await request({ scope: 'profile bills:read' })).toEqual([billing, 'profile bills:read'])
    expect(await request({ scope: 'profile' })).toEqual([[orders, billing], 'profile'])
  })

  it('of two APIs need a resource', async () => {
    const request = await service(format)
    expect(await request()).toBe(ofSeveral)
    expect(await request({ scope: 'orders:read bills:read' })).toBe(ofSeveral)
    const both = `resource=${orders}&resource=${billing}`
    expect(await request(`${both}&scope=orders:read%20bills:read`)).toEqual([
      [orders, billing],
      'orders:read bills:read',
    ])
  })

  it('are all granted without a request for any, if they are of one API', async () => {
    const request = await service(format, { scopes: ['orders:read', 'profile'] })
    expect(await request()).toEqual([orders, 'orders:read profile'])
  })

  it('grant the API with them', async () => {
    const request = await service(format, { audiences: [billing], scopes: ['orders:read'] })
    expect(await request({ resource: orders })).toEqual([orders, 'orders:read'])
    expect(await request({ resource: billing })).toEqual([billing, ''])
  })
})

it('a resource has no effect on opaque tokens of an application without APIs', async () => {
  const request = await service('opaque', { audiences: [], scopes: ['profile'] })
  expect(await request({ resource: orders })).toEqual([undefined, 'profile'])
})

describe('the catalogue', () => {
  it('has the API and the description of a scope, which administrators change', async () => {
    const { send } = await administeredService({ scopes })
    const named = (name: string) => scopes.find((scope) => typeof scope === 'object' && scope.name === name)
    expect((await send('GET', '/scopes')).body).toMatchObject([
      named('bills:read'),
      named('orders:read'),
      named('orders:write'),
      { name: 'profile' },
    ])
    expect(
      (await send('PUT', '/scopes/profile', { audience: orders, description: 'Names' }, '*')).status,
    ).toBe(204)
    expect((await send('PUT', '/scopes/orders%3Aread', {}, '*')).status).toBe(204)
    expect((await send('GET', '/scopes')).body).toMatchObject([
      named('bills:read'),
      { name: 'orders:read', revision: expect.any(String) },
      named('orders:write'),
      { name: 'profile', audience: orders, description: 'Names' },
    ])
    expect((await send('PUT', '/scopes/x', { audience: 'a b' })).status).toBe(400)
    const log = String((await send('GET', '/audit')).body)
    expect(log).toContain('"scope_changed"')
    expect(log).toContain(`"audience":{"from":"${orders}"}`)
  })

  it('is shown and changed in the portal', async () => {
    const { admin } = await startPortal({ scopes })
    const { text } = await admin.get('/portal/scopes')
    expect(text).toContain('Reads orders')
    expect(text).toContain(`<code class="cut" title="${orders}">`)
    const form = { name: 'Speech', organization_name: '', developer_email: '' }
    await admin.post('/portal/new-project', form)
    expect((await admin.get('/portal/new-application')).text).toContain(
      `Reads orders. Only in tokens for ${orders}`,
    )
    const scope = { name: 'profile', audience: billing, description: 'Names' }
    expect((await admin.post('/portal/scopes', scope)).location).toBe('/portal/scopes')
    expect((await admin.get('/portal/scopes')).text).toContain('Names')
    expect((await admin.post('/portal/scopes', { ...scope, audience: 'a b' })).status).toBe(422)
  })
})

describe('a resource server that is bound to audiences', () => {
  const bound = { clientId: 'orders-api', clientSecret: 'orders-secret-0123456789', audiences: [orders] }

  it.each<Format>(['opaque', 'jwt'])('sees tokens for other APIs as inactive (%s)', async (tokenFormat) => {
    const registered = { ...application, tokenFormat, audiences: [orders, billing] }
    const { authUrl } = await testService({ applications: [registered], resourceServers: [bound] })
    const isActive = async (form: Record<string, string>) => {
      const { clientId, clientSecret } = application
      const all = { client_id: clientId, client_secret: clientSecret, ...form }
      const { body } = await postForm(`${authUrl}${tokenPath}?grant_type=client_credentials`, all)
      return (await postForm(`${authUrl}/oauth/introspect`, { token: body.access_token }, basic(bound))).body
    }
    expect(await isActive({ resource: orders })).toMatchObject({ active: true, aud: orders })
    expect(await isActive({})).toMatchObject({ active: true, aud: [orders, billing] })
    expect(await isActive({ resource: billing })).toEqual({ active: false })
  })

  it('sees tokens that are for no API as inactive', async () => {
    const { authUrl } = await testService({ resourceServers: [bound] })
    const { clientId: client_id, clientSecret: client_secret } = application
    const url = `${authUrl}${tokenPath}?grant_type=client_credentials`
    const { body } = await postForm(url, { client_id, client_secret })
    const response = await postForm(`${authUrl}/oauth/introspect`, { token: body.access_token }, basic(bound))
    expect(response.body).toEqual({ active: false })
  })

  it('is bound, and no longer, by an administrator', async () => {
    const { send } = await administeredService()
    const { body: created } = await send('POST', '/resource-servers', { name: 'orders', audiences: [orders] })
    const path = `/resource-servers/${created.clientId}`
    const audiences = async () => (await send('GET', path)).body.audiences as unknown
    expect(await audiences()).toEqual([orders])
    expect((await send('PUT', `${path}/audiences`, { audiences: [billing] }, '*')).status).toBe(204)
    expect((await send('PATCH', path, { name: 'renamed' })).status).toBe(204)
    expect([(await send('GET', path)).body.name, await audiences()]).toEqual(['renamed', [billing]])
    expect((await send('DELETE', `${path}/audiences`)).status).toBe(204)
    expect(await audiences()).toBeUndefined()
    expect((await send('PUT', `${path}/audiences`, { audiences: ['a b'] })).status).toBe(400)
  })
})

describe('an API that is taken from an application', () => {
  const [reports, mail] = ['https://reports.example.com', 'urn:mail']
  const bound = { clientId: 'reports-api', clientSecret: 'reports-secret-0123456789', audiences: [reports] }

  async function withTokens(tokenFormat: Format) {
    const service = await administeredService({
      applications: [{ ...application, tokenFormat, audiences: [reports, mail], scopes: ['reports:write'] }],
      scopes: [{ name: 'reports:write', audience: reports }],
      resourceServers: [bound, resourceServer],
    })
    const { clientId, clientSecret } = application
    const tokenFor = async (...resources: string[]) => {
      const form = new URLSearchParams({ client_id: clientId, client_secret: clientSecret })
      for (const each of resources) form.append('resource', each)
      const url = `${service.authUrl}${tokenPath}?grant_type=client_credentials`
      return (await (await fetch(url, { method: 'POST', body: form })).json()).access_token as string
    }
    const tokens = [await tokenFor(reports), await tokenFor(mail), await tokenFor(reports, mail)]
    const introspected = (by: typeof bound | typeof resourceServer) =>
      Promise.all(
        tokens.map(async (token) => {
          const { body } = await postForm(`${service.authUrl}/oauth/introspect`, { token }, basic(by))
          return body.active ? [body.aud, body.scope] : undefined
        }),
      )
    const change = (body: object) => service.send('PATCH', `/applications/${clientId}`, body)
    return { ...service, introspected, change }
  }

  it.each<Format>(['opaque', 'jwt'])('accepts its tokens no longer, at once (%s)', async (tokenFormat) => {
    const { send, introspected, change } = await withTokens(tokenFormat)
    const both = [[reports, mail], 'reports:write']
    expect(await introspected(resourceServer)).toEqual([[reports, 'reports:write'], [mail, ''], both])
    expect(await introspected(bound)).toEqual([[reports, 'reports:write'], undefined, both])
    // The approved scope still includes it.
    await change({ audiences: [mail] })
    expect(await introspected(bound)).toEqual([[reports, 'reports:write'], undefined, both])
    await send('PUT', '/scopes/reports:write', { audience: 'urn:archive' }, '*')
    expect(await introspected(bound)).toEqual([undefined, undefined, undefined])
    expect(await introspected(resourceServer)).toEqual([undefined, [mail, ''], [mail, '']])
  })
})
