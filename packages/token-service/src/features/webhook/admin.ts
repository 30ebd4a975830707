import { z } from 'zod'
import { ms, named, operation, type OperationGroup } from '../operation.ts'
import { NotFoundError } from '../../runtime/usage-error.ts'
import { removeWebhook, setWebhook, testWebhook } from './acts.ts'
import { webhookStorage } from './storage.ts'

const settings = z.strictObject({
  url: z.string().min(1).max(1_000).describe('An https URL.'),
})
const webhook = named('Webhook', settings.extend({ createdAtMs: ms }))
const newWebhook = named(
  'NewWebhook',
  settings.extend({ signingSecret: z.string().describe('Shown in this response only.') }),
)
const delivery = named(
  'WebhookDelivery',
  z.looseObject({
    id: z.string().describe('The `webhook-id` of each attempt.'),
    type: z.string(),
    body: z.string().describe('The JSON that is sent.'),
    createdAtMs: ms,
    attempts: z.int(),
    nextAttemptAtMs: ms.optional(),
    deliveredAtMs: ms.optional(),
    failure: z.string().optional().describe('Why the last attempt failed.'),
  }),
)

const listedDeliveries = 100

/** Where events are sent. */
export const webhookOperations: OperationGroup = {
  heading: 'Webhook',
  operations: [
    operation({
      method: 'get',
      path: '/webhook',
      command: 'webhook',
      summary: 'Get the webhook',
      response: webhook,
      async run({ database }) {
        const found = await webhookStorage(database).find()
        if (!found) throw new NotFoundError('There is no webhook.')
        return { url: found.url, createdAtMs: found.createdAtMs }
      },
    }),
    operation({
      method: 'put',
      path: '/webhook',
      command: 'set-webhook',
      summary: 'Set the webhook, with a new signing secret; events that wait are sent to the new URL',
      body: settings,
      response: newWebhook,
      run: async ({ perform }, { body: { url }, by }) => ({
        url,
        signingSecret: await perform(by, (act) => setWebhook(act, url)),
      }),
    }),
    operation({
      method: 'delete',
      path: '/webhook',
      command: 'remove-webhook',
      summary: 'Remove the webhook, and the events that wait',
      run: ({ perform }, { by }) => perform(by, removeWebhook),
    }),
    operation({
      method: 'post',
      path: '/webhook/test',
      command: 'test-webhook',
      summary: 'Send a test event at once, and return what became of it',
      response: delivery,
      run: (service, { by }) => testWebhook(service, by),
    }),
    operation({
      method: 'get',
      path: '/webhook/deliveries',
      command: 'webhook-deliveries',
      summary: `List the last ${listedDeliveries} events of the webhook`,
      response: z.array(delivery),
      run: ({ database }) => webhookStorage(database).list(listedDeliveries),
    }),
  ],
}
