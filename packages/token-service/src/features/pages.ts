import { cataloguePages } from './catalogue/pages.ts'
import { searchPages } from './search/pages.ts'
import { trialPages } from './trial/pages.ts'
import { trustedIssuerPages } from './trusted-issuers/pages.ts'
import { webhookPages } from './webhook/pages.ts'

/** The pages of every feature. */
export const featurePages = [
  cataloguePages,
  searchPages,
  trialPages,
  trustedIssuerPages,
  webhookPages,
] as const
