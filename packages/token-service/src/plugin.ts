// What a portal needs.
export type { ActivityRecorder, AuditEvent } from './activity/activity-recorder.ts'
export type {
  Application,
  ApplicationStatus,
  Approval,
  Project,
  RegisteredClient,
  ResponseForm,
  StoredSecret,
} from './applications/application.ts'
export { isBeingDeleted } from './applications/application.ts'
export type { ResourceServer, ResourceServerSecret } from './applications/resource-server.ts'
export {
  createFailedAttemptLimit,
  type FailedAttemptLimit,
  type FailureLimit,
} from './authentication/failed-attempt-limit.ts'
export { networkAddress } from './authentication/network-address.ts'
export { baseUrl } from './http/base-url.ts'
export { apiDescription } from './openapi/api-description.ts'
export { keyName, type KeyMaterial, type PublicJwk, type PublicKey } from './keys/public-key.ts'
export type { Keyring } from './secret-hashing/keyring.ts'
export { digest } from './platform/digest.ts'
export { NotFoundError } from './platform/usage-error.ts'
export type { ErrorShape } from './protocol/protocol-error.ts'
export type { RawParameters } from './protocol/raw-parameters.ts'
export { ProtocolError } from './protocol/protocol-error.ts'
export { productNamePattern, responseForms } from './registry/application-options.ts'
export {
  AlreadyExists,
  ApplicationChanged,
  deletionGraceDays,
  type Actor,
  type ApplicationRegistry,
  type ApplicationSettings,
  type ProjectDetails,
} from './registry/application-registry.ts'
export { LastAdministrator, type DeveloperRegistry } from './registry/developer-registry.ts'
export type { ResourceServerRegistry } from './registry/resource-server-registry.ts'
export type { DeveloperPortal, ServiceContext } from './service/service-context.ts'
export type { Developer, Invitation } from './storage/developer-storage.ts'
export { StorageFailure } from './storage/storage-failure.ts'
export type {
  AuditEntry,
  AuditFilter,
  Storage,
  TokenRequestEntry,
  TokenRequestOutcome,
  UsageEntry,
} from './storage/storage.ts'
