import { accountPages } from './sessions/account-pages.ts'
import { applicationPages } from './applications/pages.ts'
import { approvalPages } from './applications/approval-pages.ts'
import { auditPages } from './audit/pages.ts'
import { cataloguePages } from './catalogue/pages.ts'
import { overviewPages } from './overview/pages.ts'
import { peoplePages } from './people/pages.ts'
import { projectPages } from './projects/pages.ts'
import { referencePages } from './reference/reference-pages.ts'
import { resourceServerPages } from './resource-servers/pages.ts'
import { searchPages } from './search/pages.ts'
import { credentialPages } from './credentials/pages.ts'
import { linkPages } from './sessions/link-pages.ts'
import { logInPages } from './sessions/log-in-pages.ts'
import { openidPages } from './sessions/openid-pages.ts'
import { trialPages } from './reference/trial-pages.ts'
import { trustedIssuerPages } from './trusted-issuers/pages.ts'

/** The pages of every feature. */
export const featurePages = [
  accountPages,
  applicationPages,
  approvalPages,
  auditPages,
  cataloguePages,
  credentialPages,
  linkPages,
  logInPages,
  openidPages,
  overviewPages,
  peoplePages,
  projectPages,
  referencePages,
  resourceServerPages,
  searchPages,
  trialPages,
  trustedIssuerPages,
] as const
