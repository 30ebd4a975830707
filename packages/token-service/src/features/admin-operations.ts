import { webhookOperations } from './webhook/admin.ts'

/** The operations of every feature, in the order of the help of the command. */
export const featureOperations = [webhookOperations] as const
