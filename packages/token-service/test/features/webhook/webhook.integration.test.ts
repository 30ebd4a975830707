import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '@tokenwell/internal-testing/free-port'
import { generate } from 'selfsigned'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createApplication,
  createProject,
  startPortal,
  useCheapPasswords,
} from '../../portal/portal-browser.ts'
import { runCommand, temporaryFolder, type ServiceProcess } from '../../service-process.ts'
import { administeredService, adminSender, application, resourceServer } from '../../test-service.ts'
import {
  changeSettings,
  createApplication as registerApplication,
} from '../../../src/features/applications/acts.ts'
import { webhookStorage } from '../../../src/features/webhook/storage.ts'

useCheapPasswords()

const python = '/usr/bin/python3'
const adminToken = 'administrator-token-0123456789-abcdef'
const internalUrl = 'https://127.0.0.1:9/hook'

interface Received {
  readonly id: string
  readonly valid: boolean
  readonly event: { readonly type: string; readonly data: Record<string, unknown> }
}

/** A service with a certificate that it trusts, and a receiver in another language. */
async function setUp() {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keySize: 2048,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  })
  const configuration = JSON.stringify({
    storage: 'sqlite:data.db',
    port: 0,
    adminPort: 0,
    sandbox: 0,
    webhookAllowedHosts: ['localhost'],
    resourceServers: [resourceServer],
  })
  const cwd = temporaryFolder({
    'key.pem': key,
    'cert.pem': cert,
    'config.json': configuration,
    'documented.py': documentedCheck(),
  })
  const port = await freePort()
  const received: Received[] = []

  const startReceiver = async () => {
    const files = ['cert.pem', 'key.pem', 'secret'].map((name) => join(cwd, name))
    const script = fileURLToPath(new URL('receiver.py', import.meta.url))
    const child = spawn(python, [script, String(port), ...files], {
      env: { PYTHONPATH: cwd, PYTHONDONTWRITEBYTECODE: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      const lines = (text + more).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) if (line !== 'ready') received.push(JSON.parse(line) as Received)
    })
    await once(child.stdout, 'data')
    return child
  }

  const startService = async () => {
    const service = runCommand(['--config', 'config.json', '--log-level', 'warn'], {
      cwd,
      env: { NODE_EXTRA_CA_CERTS: join(cwd, 'cert.pem'), TOKENWELL_ADMIN_TOKEN: adminToken },
    })
    await service.authUrl
    return { service, send: adminSender(await urlOf(service, 'Administration'), adminToken) }
  }

  return {
    url: `https://localhost:${port}/hook`,
    port,
    received,
    startReceiver,
    startService,
    keepSecret: (secret: string) => writeFileSync(join(cwd, 'secret'), secret),
  }
}

/** The example in the documents. */
function documentedCheck(): string {
  const guide = readFileSync(new URL('../../../../../docs/service/administer.md', import.meta.url), 'utf8')
  return /```py\n(import base64.*?)```/s.exec(guide)?.[1] ?? ''
}

async function urlOf(service: ServiceProcess, name: string): Promise<string> {
  const line = new RegExp(`${name}.* (http\\S+)`)
  await expect.poll(() => service.output(), { timeout: 30_000 }).toMatch(line)
  return line.exec(service.output())?.[1] ?? ''
}

const ids = (received: readonly Received[]) => received.map(({ id }) => id)

describe.skipIf(!existsSync(python))('a receiver in Python (needs the Debian package python3)', () => {
  it('accepts the signature of a test event, and rejects that of a secret before', async () => {
    const { url, received, startReceiver, startService, keepSecret } = await setUp()
    const { send } = await startService()
    const { status, body: webhook } = await send('PUT', '/webhook', { url })
    expect([status, webhook]).toEqual([200, { url, signingSecret: expect.stringMatching(/^whsec_.{44}$/) }])
    keepSecret(webhook.signingSecret)
    await startReceiver()
    const tested = await send('POST', '/webhook/test')
    expect(tested.body).toMatchObject({
      type: 'webhook.test',
      attempts: 1,
      deliveredAtMs: expect.any(Number),
    })
    expect(received).toEqual([
      { id: tested.body.id, valid: true, event: expect.objectContaining({ type: 'webhook.test', data: {} }) },
    ])
    const changed = await send('PUT', '/webhook', { url })
    expect(changed.body.signingSecret).not.toBe(webhook.signingSecret)
    expect((await send('POST', '/webhook/test')).body).toMatchObject({
      attempts: 1,
      failure: 'localhost responded with status 401',
    })
  })

  it('gets every event, although it and the service are killed', async () => {
    const { url, port, received, startReceiver, startService, keepSecret } = await setUp()
    const first = await startService()
    keepSecret((await first.send('PUT', '/webhook', { url })).body.signingSecret)

    // Nobody listens: the service is killed when the act is confirmed.
    const path = `/resource-servers/${resourceServer.clientId}`
    await first.send('POST', `${path}/secrets`, {})
    const [{ id: one }, { id: two }] = (await first.send('GET', path)).body.secrets
    expect((await first.send('DELETE', `${path}/secrets/${one}`)).status).toBe(204)
    first.service.child.kill('SIGKILL')
    await first.service.ended

    // Something accepts the connection and says nothing: the service is killed in the middle of the attempt.
    const sockets: Socket[] = []
    const silent = createServer((socket) => void sockets.push(socket)).listen(port, '127.0.0.1')
    const second = await startService()
    await expect.poll(() => sockets.length, { timeout: 30_000 }).toBeGreaterThan(0)
    expect((await second.send('DELETE', `${path}/secrets/${two}`)).status).toBe(204)
    second.service.child.kill('SIGKILL')
    await second.service.ended
    for (const socket of sockets) socket.destroy()
    silent.close()

    const receiver = await startReceiver()
    const third = await startService()
    const control = await urlOf(third.service, 'Sandbox')
    const advance = () =>
      fetch(`${control}/clock`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ advanceSeconds: 31 }),
      })
    await advance()
    await expect.poll(() => new Set(ids(received)).size, { timeout: 60_000 }).toBe(2)
    expect(received.every(({ valid, event }) => valid && event.type === 'secret.revoked')).toBe(true)
    const revoked = received.map(({ event }) => (event.data['secret'] as { id: string }).id)
    expect([...new Set(revoked)].toSorted()).toEqual([String(one), String(two)].toSorted())

    // The receiver prints an event before its response has arrived and is recorded.
    const deliveryTimes = async () => {
      const { body: deliveries } = await third.send('GET', '/webhook/deliveries')
      return deliveries.map(({ deliveredAtMs }: { deliveredAtMs?: number }) => deliveredAtMs)
    }
    await expect.poll(deliveryTimes, { timeout: 60_000 }).toEqual([expect.any(Number), expect.any(Number)])
    receiver.kill('SIGKILL')
  })
})

describe('administration of the webhook', () => {
  it('sets, tests and removes it; the audit log says so, without the secret', async () => {
    const { send, context } = await administeredService()
    expect((await send('GET', '/webhook')).status).toBe(404)
    expect((await send('POST', '/webhook/test')).status).toBe(404)
    expect((await send('DELETE', '/webhook')).status).toBe(404)
    const { signingSecret } = (await send('PUT', '/webhook', { url: internalUrl })).body
    expect((await send('GET', '/webhook')).body).toEqual({
      url: internalUrl,
      createdAtMs: expect.any(Number),
    })
    expect((await send('POST', '/webhook/test')).body.failure).toBe(
      '127.0.0.1 has the internal address 127.0.0.1. Add the host to webhookAllowedHosts if it is trusted',
    )
    expect((await send('GET', '/webhook/deliveries')).body).toMatchObject([
      { type: 'webhook.test', attempts: 1 },
    ])
    const stored = await webhookStorage(context.storage.database).find()
    expect(JSON.stringify(stored)).not.toContain(signingSecret.slice(6))
    expect((await send('DELETE', '/webhook')).status).toBe(204)
    expect((await send('GET', '/webhook/deliveries')).body).toEqual([])
    const log = String((await send('GET', '/audit')).body)
    for (const event of ['webhook_set', 'webhook_tested', 'webhook_removed']) expect(log).toContain(event)
    expect(log).not.toContain('whsec_')
  })

  it.each([
    'http://example.com/hook',
    'https://user:password@example.com/',
    'https://user@example.com/',
    'https://example.com/#a',
    'example.com',
    'file:///etc/passwd',
  ])('rejects the URL %s', async (url) => {
    const { send } = await administeredService()
    const { status, body } = await send('PUT', '/webhook', { url })
    expect([status, body.error]).toEqual([400, expect.stringContaining('must be an https URL')])
    expect((await send('GET', '/webhook')).status).toBe(404)
  })

  it('keeps the secret readable when the keys are rotated', async () => {
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    const [older, newer] = ['o'.repeat(32), 'n'.repeat(32)]
    const encryptedWith = async (...secretHashKeys: string[]) => {
      const service = await administeredService({
        storage,
        secretHashKeys,
        applications: [],
        resourceServers: [],
      })
      if (secretHashKeys.length === 1 && secretHashKeys[0] === older)
        await service.send('PUT', '/webhook', { url: internalUrl })
      const { encryptedSecret = '' } = (await webhookStorage(service.context.storage.database).find()) ?? {}
      const decrypted = await service.context.keyring.decrypt(encryptedSecret)
      await service.close()
      return decrypted
    }
    const secret = await encryptedWith(older)
    expect(secret).toMatch(/^whsec_/)
    expect(await encryptedWith(newer, older)).toBe(secret)
    expect(await encryptedWith(newer)).toBe(secret)
  })
})

describe('the webhook reports', () => {
  const pending = { ...application, name: 'pending', clientId: 'pending', status: 'pending' as const }

  it('requests of approval and revoked secrets, and nothing before it is set', async () => {
    const { send, context } = await administeredService()
    const { perform, storage } = context
    const by = { actorType: 'person', actor: 'grace' } as const
    const reported = async () =>
      (await webhookStorage(storage.database).list(9)).map(
        ({ body }) => JSON.parse(body) as Received['event'],
      )
    const find = async () => (await storage.applications.findClient(application.clientId))!
    const change = async (level: string) => {
      const { application: current } = await find()
      const settings = { ...current, level }
      await perform(by, (act) => changeSettings(act, current, settings, { byAdministrator: false }))
    }
    await change('platinum')
    await send('PUT', '/webhook', { url: internalUrl })
    expect(await reported()).toEqual([])

    await change('silver')
    const client = { id: application.clientId, name: application.name }
    const actor = { type: 'person', name: 'grace' }
    expect(await reported()).toMatchObject([{ type: 'approval.requested', data: { client, actor } }])
    await change('gold')
    await send('POST', `/applications/${application.clientId}/revoke-tokens`)
    const { application: current } = await find()
    await perform(by, (act) => registerApplication(act, { ...current, name: 'new one', status: 'pending' }))
    expect(
      (await reported()).map(({ data }) => (data['client'] as { name: string }).name).toSorted(),
    ).toEqual(['new one', application.name])

    const { secrets } = await find()
    await send('DELETE', `/applications/${application.clientId}/secrets/${secrets[0]?.id}`)
    expect((await reported()).find(({ type }) => type === 'secret.revoked')).toMatchObject({
      data: { client, secret: { id: secrets[0]?.id }, actor: { type: 'api' } },
    })
  })

  it('a pending application of the configuration', async () => {
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    const first = await administeredService({ storage })
    await first.send('PUT', '/webhook', { url: internalUrl })
    await first.close()
    const { context } = await administeredService({ storage, applications: [application, pending] })
    expect(await webhookStorage(context.storage.database).list(9)).toMatchObject([
      { type: 'approval.requested' },
    ])
  })

  it('nothing of an act that fails', async () => {
    const { send, context } = await administeredService()
    await send('PUT', '/webhook', { url: internalUrl })
    const act = context.perform({ actorType: 'service' }, async ({ audit }) => {
      audit('secret_revoked', { clientId: application.clientId, detail: 'a' })
      throw new Error('undone')
    })
    await expect(act).rejects.toThrow('undone')
    expect(await webhookStorage(context.storage.database).list(9)).toEqual([])
  })
})

describe('the portal', () => {
  const path = '/portal/webhook'

  it('lets administrators set, test and remove the webhook', async () => {
    const { admin, developer } = await startPortal()
    expect((await admin.get(path)).text).toContain('Set a webhook')
    const { status, text } = await admin.post(path, { url: internalUrl })
    expect([status, text]).toEqual([200, expect.stringMatching(/whsec_[\w+/=]{44}/)])
    const project = await createProject(admin)
    const grace = await developer('grace')
    await createApplication(grace, await createProject(grace, 'Grace'))
    await createApplication(admin, project)
    await admin.get(path)
    const { text: page } = await admin.post(`${path}/test`)
    expect(page).toContain('The test event was not delivered: 127.0.0.1 has the internal address')
    expect(page).toContain('webhookAllowedHosts')
    expect(page).toContain('approval.requested')
    expect(page).not.toContain('whsec_')

    expect((await grace.get(path)).status).toBe(403)
    for (const each of [path, `${path}/test`, `${path}/removal`])
      expect((await grace.post(each, { url: internalUrl })).status).toBe(403)

    expect((await admin.post(`${path}/removal`)).location).toBe(path)
    expect((await admin.get(path)).text).toContain('Set a webhook')
    expect((await admin.get('/portal/audit')).text).toContain('removed the webhook at')
  })

  it.each([
    ['', 'This field is required.'],
    ['http://example.com', 'must be an https URL'],
    [`https://example.com/${'a'.repeat(1_000)}`, 'Use at most 1000 characters.'],
  ])('says what is wrong with a URL, and keeps it: %#', async (url, message) => {
    const { admin } = await startPortal()
    await admin.get(path)
    const { status, text } = await admin.post(path, { url })
    expect([status, text]).toEqual([422, expect.stringContaining(message)])
    expect(text).toContain(`value="${url}"`)
  })
})
