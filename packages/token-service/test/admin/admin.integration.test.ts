import { exportSPKI } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pair } from '../oauth/client-assertion.ts'
import { startPortal, useCheapPasswords } from '../portal/portal-browser.ts'
import { runCommand, temporaryFolder } from '../service-process.ts'
import {
  application,
  introspect,
  requestToken,
  testService,
  adminSender,
  administeredService,
} from '../test-service.ts'

useCheapPasswords()

const token = 'administrator-token-0123456789-abcdef'

async function administered() {
  const service = await testService({ adminPort: 0, adminToken: token, metrics: true, portal: true })
  return { ...service, send: adminSender(service.adminUrl!, token) }
}

/** The ID of the project of the configured application. */
async function defaultProject(send: ReturnType<typeof adminSender>): Promise<string> {
  return (await send('GET', '/projects')).body[0].id
}

describe('the secrets that expire', () => {
  it('are listed for administrators by API, command and portal, and for owners their own', async () => {
    const clientSecretExpiresAt = new Date(Date.now() + 20 * 86_400_000).toISOString()
    const applications = [{ ...application, clientSecretExpiresAt }]
    const { admin, service, developer } = await startPortal({ applications, adminPort: 0, adminToken: token })
    const send = adminSender(service.adminUrl!, token)
    const server = (await send('POST', '/resource-servers', { name: 'Billing API' })).body
    await send('POST', `/resource-servers/${server.clientId}/secrets`, { overlapSeconds: 3_600 })
    await requestToken(service.authUrl)

    const { body } = await send('GET', '/expiring-secrets')
    const expiring = [
      { clientId: server.clientId, name: 'Billing API' },
      { clientId: application.clientId, name: application.name, lastUsedAtMs: expect.any(Number) },
    ]
    expect(body).toMatchObject(expiring)
    expect((await send('GET', '/expiring-secrets?days=7')).body).toMatchObject(expiring.slice(0, 1))
    expect((await send('GET', '/expiring-secrets?days=0')).status).toBe(400)
    const env = { TOKENWELL_ADMIN_URL: service.adminUrl!, TOKENWELL_ADMIN_TOKEN: token }
    const command = runCommand(['admin', 'expiring-secrets', '--days', '20'], { env })
    expect(JSON.parse((await command.ended).stdout)).toMatchObject(expiring)

    const path = '/portal/expiring-secrets'
    const { text } = await admin.get(path)
    expect(text).toMatch(/Billing API[^]*speech-demo/)
    expect((await admin.get(`${path}?show=1`)).text).not.toContain('speech-demo')
    expect((await admin.get('/portal')).text).toContain(`<a href="${path}">All</a>`)
    expect((await (await developer('grace')).get(path)).text).toContain(
      'No secret expires in the next 30 days',
    )
  })
})

describe("the administrators' listener", () => {
  it('requires the token, for metrics too, which the main listener then does not serve', async () => {
    const { adminUrl, authUrl, send } = await administered()
    for (const authorization of ['', 'Bearer ', `Bearer ${token}x`, `Basic ${token}`, token]) {
      for (const path of ['/applications', '/metrics', '/audit', '/nowhere']) {
        const response = await fetch(`${adminUrl}${path}`, { headers: { authorization } })
        expect([path, response.status]).toEqual([path, 401])
        expect(response.headers.get('www-authenticate')).toBe('Bearer')
      }
    }
    expect(await send('GET', '/nowhere')).toMatchObject({
      status: 404,
      body: { error: 'This address does not exist.' },
    })
    expect((await send('GET', '/metrics')).body).toContain('tokenwell_request_duration_seconds')
    expect((await fetch(`${authUrl}/metrics`)).status).toBe(404)
    expect((await fetch(`${authUrl}/applications`)).status).toBe(404)
    await expect(testService({ adminPort: 0, adminToken: 'short' })).rejects.toThrow(
      /"adminToken" must have 32 or more characters/,
    )
  })

  it('creates, approves and revokes applications', async () => {
    const { authUrl, send } = await administered()
    const details = {
      name: 'orders',
      projectId: await defaultProject(send),
      products: ['billing'],
      scopes: ['bill'],
      lifetimeSeconds: 60,
    }
    const created = await send('POST', '/applications', details)
    expect(created.status).toBe(201)
    expect((await requestToken(authUrl, created.body)).body).toMatchObject({
      application_name: 'orders',
      api_product_list_json: ['billing'],
      scope: 'bill',
      expires_in: '60',
    })
    const path = `/applications/${created.body.clientId}`
    expect((await send('POST', `${path}/revoke`)).body.status).toBe('revoked')
    expect((await requestToken(authUrl, created.body)).status).toBe(401)
    expect((await send('POST', `${path}/approve`, { revision: 0 })).status).toBe(409)
    expect((await send('POST', `${path}/approve`)).body.status).toBe('approved')
    const { revision } = (await send('POST', `${path}/revoke`)).body
    expect((await send('POST', `${path}/approve`, { revision })).body.status).toBe('approved')
    expect((await requestToken(authUrl, created.body)).status).toBe(200)
    expect((await send('GET', '/applications')).body).toHaveLength(2)
    expect((await send('POST', '/applications', { ...details, projectId: 'default' })).status).toBe(404)
    expect((await send('POST', '/applications/unknown/revoke')).status).toBe(404)
  })

  it('creates applications from a name and a project', async () => {
    const { authUrl, send } = await administered()
    const projectId = await defaultProject(send)
    const { status, body } = await send('POST', '/applications', { name: 'plain', projectId })
    expect(status).toBe(201)
    expect((await requestToken(authUrl, body)).body).toMatchObject({
      api_product_list_json: [],
      expires_in: '3600',
    })
    expect((await send('GET', `/applications/${body.clientId}`)).body.keys).toEqual([])
  })

  it('rotates and revokes secrets, and revokes all tokens', async () => {
    const { authUrl, send } = await administered()
    const path = `/applications/${application.clientId}`
    const { body: old } = await requestToken(authUrl)
    expect((await send('POST', `${path}/revoke-tokens`)).status).toBe(200)
    expect((await introspect(authUrl, old.access_token)).body).toEqual({ active: false })
    const { body: rotated } = await send('POST', `${path}/secrets`, { overlapSeconds: 3_600 })
    for (const each of [application, { ...application, ...rotated }])
      expect((await requestToken(authUrl, each)).status).toBe(200)
    const { secrets } = (await send('GET', path)).body
    expect(JSON.stringify(secrets)).not.toContain('hash')
    expect((await send('DELETE', `${path}/secrets/${secrets[0].id}`)).status).toBe(204)
    expect((await requestToken(authUrl)).status).toBe(401)
    expect((await requestToken(authUrl, { ...application, ...rotated })).status).toBe(200)
  })

  it('keeps the catalogue of products, and creates links for developers', async () => {
    const { authUrl, send } = await administered()
    expect((await send('PUT', '/products/billing')).status).toBe(204)
    expect((await send('DELETE', '/products/sms')).status).toBe(204)
    expect((await send('PUT', '/products/billing', { description: 'Sends invoices' }, '*')).status).toBe(204)
    expect((await send('GET', '/products')).body).toEqual([
      { name: 'billing', description: 'Sends invoices', revision: expect.any(String) },
      { name: 'speech-to-text', revision: expect.any(String) },
    ])
    // Replaces it, as every PUT does.
    expect((await send('PUT', '/products/billing', undefined, '*')).status).toBe(204)
    const [billing] = (await send('GET', '/products')).body
    expect(billing).toEqual({ name: 'billing', revision: expect.any(String) })
    const { body } = await send('POST', '/invitations')
    expect(body.link.startsWith(`${authUrl}/portal/join/`)).toBe(true)
    expect((await send('GET', '/developers')).body).toEqual([])
    expect((await send('POST', '/developers/nobody/password-link')).status).toBe(404)
  })

  it('exports the audit log as JSON lines that name who did what, from where', async () => {
    const { send } = await administered()
    await send('PUT', '/products/billing')
    await send('POST', `/applications/${application.clientId}/revoke`)
    const { body, headers } = await send('GET', '/audit?limit=2')
    expect(headers.get('content-type')).toContain('application/x-ndjson')
    const entries = String(body)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const who = { actorType: 'api', address: '127.0.0.1', count: 1 }
    expect(entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ event: 'application_revoked', clientId: application.clientId, ...who }),
        expect.objectContaining({ event: 'product_added', detail: 'billing', ...who }),
      ]),
    )
  })

  it('rejects invalid requests with a sentence that names the cause', async () => {
    const { send } = await administered()
    const requests: [method: string, path: string, body: unknown, error: string][] = [
      ['POST', '/applications', undefined, 'The request body is missing.'],
      ['POST', '/applications', { projectId: 'b' }, 'name is missing.'],
      ['POST', '/applications', { name: '', projectId: 'b' }, 'name must not be empty.'],
      ['POST', '/applications', { name: 'a', project: 'default' }, 'projectId is missing.'],
      ['POST', '/applications', { name: 'a', projectId: 'b', colour: 'red' }, 'colour is unknown.'],
      [
        'POST',
        '/applications',
        { name: 'a', projectId: 'b', products: [' b'] },
        'products[0] must not contain commas or brackets, or start or end with a space.',
      ],
      [
        'PUT',
        '/products/a%2C%20b',
        undefined,
        'The name of the product must not contain commas or brackets, or start or end with a space.',
      ],
      ['GET', '/audit?limit=0', undefined, 'limit must be at least 1.'],
      [
        'GET',
        '/audit?since=today',
        undefined,
        'since must be a date and time with a time zone, such as 2030-01-31T00:00:00Z.',
      ],
      ['POST', `/applications/${application.clientId}/keys`, { key: 1 }, 'key must be a string.'],
    ]
    for (const [method, path, body, error] of requests) {
      expect(await send(method, path, body)).toMatchObject({ status: 400, body: { error } })
    }
  })
})

describe('tokenwell-service admin', () => {
  it('prints where metrics are, if there are any', async () => {
    const cwd = temporaryFolder({ token: `${token}\n` })
    const env = { TOKENWELL_ADMIN_TOKEN_FILE: 'token' }
    const args = ['--storage', 'memory', '--port', '0', '--admin-port', '0', '--metrics', 'true']
    const service = runCommand(args, { cwd, env })
    onTestFinished(() => void service.child.kill())
    await service.authUrl
    await expect.poll(() => service.output()).toContain('Administration, metrics  http')
  })

  it('administers a running service', async () => {
    const cwd = temporaryFolder({
      'service.json': JSON.stringify({
        port: 0,
        adminPort: 0,
        storage: 'memory',
        applications: [application],
      }),
      token: `${token}\n`,
      'public-key.pem': await exportSPKI(pair.publicKey),
    })
    const env = { TOKENWELL_ADMIN_TOKEN_FILE: 'token' }
    const service = runCommand(['--config', 'service.json'], { cwd, env })
    onTestFinished(() => void service.child.kill())
    const authUrl = await service.authUrl
    await expect.poll(() => service.output()).toMatch(/Administration +http/)
    const [, adminUrl = ''] = /Administration +(http\S+)/.exec(service.output()) ?? []
    const admin = async (...args: string[]) => {
      const command = runCommand(['admin', ...args], { cwd, env: { ...env, TOKENWELL_ADMIN_URL: adminUrl } })
      return await command.ended
    }
    const project = ['cli project', '--organization-name', 'Example', '--developer-email', 'ada@example.com']
    expect((await admin('create-project', ...project)).code).toBe(0)
    expect(await admin('create-project', 'cli project')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is a project named "cli project" already.'),
    })
    expect((await admin('create-project', 'other', '--developer-email', 'x')).stderr).toMatch(
      /developerEmail/,
    )
    const projects = JSON.parse((await admin('projects')).stdout)
    expect(projects).toMatchObject([
      { name: 'default' },
      { name: 'cli project', organizationName: 'Example', developerEmail: 'ada@example.com' },
    ])
    const named = ['create-application', 'cli', '--project-id', projects[1].id]
    const created = JSON.parse((await admin(...named)).stdout)
    expect((await requestToken(authUrl, created)).status).toBe(200)
    expect((await admin('revoke', created.clientId)).code).toBe(0)
    expect((await requestToken(authUrl, created)).status).toBe(401)
    expect((await admin('audit')).stdout).toContain('"event":"application_revoked"')
    const server = JSON.parse((await admin('create-resource-server', 'speech API')).stdout)
    await admin('rename-resource-server', server.clientId, 'voice API')
    const key = ['add-key-of-resource-server', server.clientId, 'public-key.pem', '--name', 'first']
    const [{ id }] = JSON.parse((await admin(...key)).stdout)
    await admin('rename-key-of-resource-server', server.clientId, id, 'second')
    expect(JSON.parse((await admin('resource-servers')).stdout)).toMatchObject([
      { name: 'voice API', keys: [{ name: 'second' }] },
    ])
    const unknown = await admin('revoke', 'unknown')
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      'tokenwell-service: There is no application with the client ID "unknown".\n',
    ])
  })

  it('needs a token', async () => {
    const cwd = temporaryFolder()
    const without = await runCommand(['admin', 'audit'], { cwd }).ended
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('token is missing')])
    const args = ['--storage', 'memory', '--port', '0', '--admin-port', '0']
    const service = await runCommand(args, { cwd }).ended
    expect([service.code, service.stderr]).toEqual([2, expect.stringContaining('"adminPort" requires')])
    const { adminUrl } = await administered()
    const env = { TOKENWELL_ADMIN_URL: adminUrl, TOKENWELL_ADMIN_TOKEN: 'canary' }
    const rejected = await runCommand(['admin', 'audit'], { cwd, env }).ended
    expect([rejected.code, rejected.stderr]).toEqual([
      2,
      expect.stringContaining('rejected the administrator token. Check TOKENWELL_ADMIN_TOKEN or'),
    ])
  })
})

it.each([
  ['123', ''],
  ['12345678', '12'],
  ['0123456789abcdef', '0123'],
  ['0123456789abcdef0123456789', '0123'],
])('of a secret, administrators see a quarter at most: %s', async (clientSecret, prefix) => {
  const { send } = await administeredService({ applications: [{ ...application, clientSecret }] })
  const { secrets } = (await send('GET', `/applications/${application.clientId}`)).body
  expect(secrets).toMatchObject([{ prefix }])
})

it('renames and removes one of several public keys', async () => {
  const { send } = await administeredService()
  const path = `/applications/${application.clientId}`
  const names = async () =>
    (await send('GET', path)).body.keys.map(({ id, name }: Record<string, string>) => [id, name])
  const added: string[] = []
  for (const name of ['a', 'b', 'c']) {
    const key = `https://keys.example.com/${name}`
    added.push((await send('POST', `${path}/keys`, { key, name })).body[0].id)
  }
  const [a, b, c] = added
  await send('PATCH', `${path}/keys/${b}`, { name: 'second' })
  expect(await names()).toEqual([
    [a, 'a'],
    [b, 'second'],
    [c, 'c'],
  ])
  await send('DELETE', `${path}/keys/${b}`)
  expect(await names()).toEqual([
    [a, 'a'],
    [c, 'c'],
  ])
})
