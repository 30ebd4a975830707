import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { ServiceContext } from '../oauth/service-context.ts'
import { parseValue } from '../runtime/parse-value.ts'
import { NotFoundError } from '../runtime/usage-error.ts'
import { actorOf } from './admin-request.ts'

export const webhookSettings = z.strictObject({
  url: z.string().min(1).max(1_000).describe('An https URL.'),
})

const maxDeliveries = 100

/** Where events are sent. */
export function administerWebhook(server: FastifyInstance, { storage, webhookFor }: ServiceContext): void {
  server.get('/webhook', async () => {
    const webhook = await storage.webhook.find()
    if (!webhook) throw new NotFoundError('There is no webhook.')
    return { url: webhook.url, createdAtMs: webhook.createdAtMs }
  })
  server.put('/webhook', async (request, reply) => {
    const { url } = parseValue(webhookSettings, request.body)
    return reply.send({ url, signingSecret: await webhookFor(actorOf(request)).set(url) })
  })
  server.delete('/webhook', async (request, reply) => {
    await webhookFor(actorOf(request)).remove()
    return reply.code(204).send()
  })
  server.post('/webhook/test', (request) => webhookFor(actorOf(request)).test())
  server.get('/webhook/deliveries', () => storage.webhook.list(maxDeliveries))
}
