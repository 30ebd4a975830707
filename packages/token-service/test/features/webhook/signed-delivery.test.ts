import { createHmac } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { PublicFetch, PublicRequest } from '../../../src/runtime/public-fetch.ts'
import type { Storage } from '../../../src/features/context.ts'
import { createWebhookSender } from '../../../src/features/webhook/signed-delivery.ts'
import { register } from '../../storage/storage-contract.ts'
import { openTestMemory } from '../../storage/open-test-storage.ts'
import { webhookStorage } from '../../../src/features/webhook/storage.ts'

const url = 'https://hooks.example.com/tokenwell'
const key = Buffer.from('0123456789abcdef0123456789abcdef')
const secret = `whsec_${key.toString('base64')}`
const dayMs = 86_400_000
const startMs = 1_700_000_000_000

interface Plan {
  readonly storage?: Storage
  readonly time?: { now: number }
  /** What the receiver responds with to the nth attempt; an error is thrown. */
  readonly receive?: (attempt: number, request: PublicRequest) => Promise<Response>
  readonly decrypted?: string | undefined
}

async function startSender(plan: Plan = {}) {
  const { time = { now: startMs }, receive = async () => new Response() } = plan
  const storage = plan.storage ?? (await openTestMemory())
  await webhookStorage(storage.database).set({ url, encryptedSecret: 'encrypted', createdAtMs: startMs })
  const requests: (PublicRequest & { readonly atMs: number })[] = []
  const warnings: string[] = []
  const errors: unknown[] = []
  const send: PublicFetch = async (to, request) => {
    expect(to).toBe(url)
    requests.push({ ...request, atMs: time.now })
    return receive(requests.length, request)
  }
  const sender = createWebhookSender({
    database: storage.database,
    keyring: { decrypt: async () => ('decrypted' in plan ? plan.decrypted : secret) },
    clock: { now: () => time.now },
    send,
    warn: (message) => void warnings.push(message),
    onError: (error) => void errors.push(error),
    pollMs: 1,
  })
  onTestFinished(() => sender.stop())
  const deliveries = async (count: number) => {
    await expect.poll(() => requests.length, { timeout: 20_000 }).toBe(count)
    return webhookStorage(storage.database).list(100)
  }
  return { storage, time, requests, warnings, errors, sender, deliveries }
}

const event = (id: string, createdAtMs = startMs) => ({
  id,
  type: 'secret.revoked',
  body: `{"id":"${id}"}`,
  createdAtMs,
  attempts: 0,
})

describe('an event of the webhook', () => {
  it('is signed as Standard Webhooks say, with its ID and the time', async () => {
    const { storage, requests, deliveries } = await startSender()
    await webhookStorage(storage.database).add([event('msg_a')])
    await deliveries(1)
    const { headers, body } = requests[0]!
    const signed = createHmac('sha256', key).update(`msg_a.1700000000.{"id":"msg_a"}`).digest('base64')
    expect([headers, body]).toEqual([
      { 'webhook-id': 'msg_a', 'webhook-timestamp': '1700000000', 'webhook-signature': `v1,${signed}` },
      '{"id":"msg_a"}',
    ])
    await expect
      .poll(async () => (await webhookStorage(storage.database).list(1))[0]?.deliveredAtMs)
      .toBe(startMs)
  })

  it('is sent ten times within three days, with growing pauses, and then no more', async () => {
    const { storage, time, requests, warnings } = await startSender({
      receive: () => Promise.reject(new Error('hooks.example.com responded with status 500')),
    })
    await webhookStorage(storage.database).add([event('msg_a')])
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      await expect
        .poll(async () => (await webhookStorage(storage.database).list(1))[0]?.failure && requests.length, {
          timeout: 20_000,
        })
        .toBe(attempt)
      const [{ nextAttemptAtMs } = {}] = await webhookStorage(storage.database).list(1)
      if (attempt === 10) expect(nextAttemptAtMs).toBeUndefined()
      else time.now = nextAttemptAtMs!
    }
    const pauses = requests.slice(1).map(({ atMs }, index) => (atMs - requests[index]!.atMs) / 60_000)
    expect(pauses).toEqual([0.5, 5, 30, 120, 300, 600, 840, 1_200, 1_440])
    time.now += 100 * dayMs
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(requests.length).toBe(10)
    expect(new Set(requests.map(({ headers }) => headers?.['webhook-id'])).size).toBe(1)
    expect(warnings).toEqual([
      'The webhook at hooks.example.com did not accept secret.revoked msg_a: hooks.example.com responded with status 500. It is sent again later.',
      'The webhook at hooks.example.com did not accept secret.revoked msg_a: hooks.example.com responded with status 500. It is not sent again.',
    ])
  })

  it('does not wait for others that fail', async () => {
    const { storage, deliveries } = await startSender({
      receive: async (attempt) => (attempt === 1 ? Promise.reject(new Error('gone')) : new Response()),
    })
    await webhookStorage(storage.database).add([event('msg_a'), event('msg_b')])
    await deliveries(2)
    await expect
      .poll(async () =>
        (await webhookStorage(storage.database).list(9))
          .map(({ deliveredAtMs }) => (deliveredAtMs !== undefined ? 'delivered' : 'waiting'))
          .toSorted(),
      )
      .toEqual(['delivered', 'waiting'])
  })

  it('is not lost when the service stops in the middle of an attempt', async () => {
    const storage = await openTestMemory()
    const time = { now: startMs }
    const first = await startSender({
      storage,
      time,
      receive: (_attempt, { signal }) =>
        new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    })
    await webhookStorage(storage.database).add([event('msg_a')])
    await first.deliveries(1)
    await first.sender.stop()
    expect(await webhookStorage(storage.database).list(1)).toEqual([
      { ...event('msg_a'), attempts: 1, nextAttemptAtMs: startMs + 30_000 },
    ])
    time.now += 30_000
    const second = await startSender({ storage, time })
    await second.deliveries(1)
    expect(second.requests[0]?.headers?.['webhook-id']).toBe('msg_a')
  })

  it('is sent by one of several instances', async () => {
    const storage = await openTestMemory()
    const senders = await Promise.all([startSender({ storage }), startSender({ storage })])
    await webhookStorage(storage.database).add(
      Array.from({ length: 20 }, (_, index) => event(`msg_${index}`)),
    )
    await expect
      .poll(
        async () =>
          (await webhookStorage(storage.database).list(99)).filter(({ deliveredAtMs }) => deliveredAtMs)
            .length,
      )
      .toBe(20)
    expect(senders.flatMap(({ requests }) => requests).length).toBe(20)
  })

  it('waits if its secret cannot be decrypted, or the storage fails', async () => {
    const { storage, warnings, requests } = await startSender({ decrypted: undefined })
    await webhookStorage(storage.database).add([event('msg_a')])
    await expect.poll(() => warnings).toEqual([expect.stringContaining('cannot be decrypted')])
    expect(requests).toEqual([])

    const failing = await openTestMemory()
    const { errors, sender } = await startSender({ storage: failing })
    await failing.close()
    await expect.poll(() => errors.length).toBeGreaterThan(0)
    await sender.stop()
  })
})

describe('secrets that expire', () => {
  async function withSecrets(days: readonly number[]) {
    const storage = await openTestMemory()
    const { application } = await register(storage)
    for (const after of days)
      await storage.secrets.add({
        id: `in-${after}`,
        ownerId: application.id,
        keyId: 'k',
        hash: `hash-${after}`,
        prefix: 'abcd',
        createdAtMs: startMs,
        expiresAtMs: startMs + after * dayMs,
      })
    return { storage, application }
  }
  const ids = (requests: readonly PublicRequest[]) =>
    requests.map(({ headers }) => String(headers?.['webhook-id'])).toSorted()

  it('are reported once, at the nearest distance, when the webhook is set', async () => {
    const { storage, application } = await withSecrets([0.5, 1, 6, 14, 29, 30.5])
    const { deliveries, requests } = await startSender({ storage })
    await deliveries(5)
    expect(ids(requests)).toEqual([
      'msg_in-0.5_1',
      'msg_in-14_14',
      'msg_in-1_1',
      'msg_in-29_30',
      'msg_in-6_7',
    ])
    const { body } = requests.find(({ headers }) => headers?.['webhook-id'] === 'msg_in-1_1')!
    expect(JSON.parse(body!)).toEqual({
      type: 'credential.expiring',
      timestamp: new Date(startMs).toISOString(),
      data: {
        client: { id: application.clientId, name: application.name },
        secret: { id: 'in-1', prefix: 'abcd', expiresAt: new Date(startMs + dayMs).toISOString() },
      },
    })
  })

  it('are reported 30, 14, 7 days and one day before, by any number of instances', async () => {
    const { storage } = await withSecrets([40])
    const time = { now: startMs }
    const senders = await Promise.all([startSender({ storage, time }), startSender({ storage, time })])
    const requests = () => ids(senders.flatMap((each) => each.requests))
    for (let day = 0; day <= 41; day += 0.5) {
      time.now = startMs + day * dayMs
      const left = 40 - day
      const expected = [30, 14, 7, 1].filter((each) => left > 0 && left <= each)
      await expect
        .poll(() => webhookStorage(storage.database).checkedUntilMs(), { interval: 1, timeout: 20_000 })
        .toBe(time.now)
      if (expected.length > 0)
        await expect.poll(() => requests().length, { interval: 1, timeout: 20_000 }).toBe(expected.length)
    }
    expect(requests()).toEqual(['msg_in-40_1', 'msg_in-40_14', 'msg_in-40_30', 'msg_in-40_7'])
  })

  it('are reported at the nearest distance only after an outage', async () => {
    const { storage } = await withSecrets([40])
    const time = { now: startMs + 9 * dayMs }
    const { deliveries, requests } = await startSender({ storage, time })
    await expect.poll(() => webhookStorage(storage.database).checkedUntilMs()).toBe(time.now)
    time.now = startMs + 35 * dayMs
    await deliveries(1)
    expect(ids(requests)).toEqual(['msg_in-40_7'])
  })

  it('are found on every page', async () => {
    const { storage } = await withSecrets(Array.from({ length: 1_003 }, (_, index) => 2 + index / 1_000))
    await startSender({ storage })
    await expect
      .poll(async () => (await webhookStorage(storage.database).list(2_000)).length, { timeout: 20_000 })
      .toBe(1_003)
  })
})
