import { cataloguePages } from './catalogue/pages.ts'
import { searchPages } from './search/pages.ts'
import { trustedIssuerPages } from './trusted-issuers/pages.ts'
import { webhookPages } from './webhook/pages.ts'

/** The pages of every feature. */
export const featurePages = [cataloguePages, searchPages, trustedIssuerPages, webhookPages] as const
