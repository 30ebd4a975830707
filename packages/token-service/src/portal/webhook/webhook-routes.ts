import type { RouteTable } from '../route-table.ts'

export const webhookPaths = {
  webhook: '/webhook',
  webhookTest: '/webhook/test',
  webhookRemoval: '/webhook/removal',
} as const

/** Where events are sent, for administrators. */
export const webhookRoutes = {
  showWebhook: ['GET', 'webhook'],
  setWebhook: ['POST', 'webhook'],
  testWebhook: ['POST', 'webhookTest'],
  removeWebhook: ['POST', 'webhookRemoval'],
} as const satisfies RouteTable<keyof typeof webhookPaths>
