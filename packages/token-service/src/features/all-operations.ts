import type { OperationGroup } from './operation.ts'
import { applicationOperations } from './applications/admin.ts'
import { auditOperations } from './audit/admin.ts'
import { catalogueOperations } from './catalogue/admin.ts'
import {
  applicationCredentials,
  expiringCredentials,
  resourceServerCredentials,
} from './credentials/admin.ts'
import { hashKeyOperations } from './hash-keys/admin.ts'
import { peopleOperations } from './people/admin.ts'
import { projectOperations } from './projects/admin.ts'
import { resourceServerOperations } from './resource-servers/admin.ts'
import { signingKeyOperations } from './signing-keys/admin.ts'
import { trustedIssuerOperations } from './trusted-issuers/admin.ts'

/** Every operation of the administrators' API, in the order of its document and of the help of the command. */
export const featureOperations: readonly OperationGroup[] = [
  projectOperations,
  applicationOperations,
  applicationCredentials,
  expiringCredentials,
  catalogueOperations,
  signingKeyOperations,
  hashKeyOperations,
  resourceServerOperations,
  resourceServerCredentials,
  trustedIssuerOperations,
  peopleOperations,
  auditOperations,
]
