import { searchPages } from './search/pages.ts'
import { webhookPages } from './webhook/pages.ts'

/** The pages of every feature. */
export const featurePages = [searchPages, webhookPages] as const
