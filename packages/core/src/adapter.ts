export {
  createTokenAttacher,
  type Attachment,
  type AttachableTokens,
  type AttachOptions,
  type AttachRequest,
  type SentRequest,
  type TokenAttacher,
} from './attach/token-attacher.ts'
export { copyBody, isRepeatableBody } from './attach/body.ts'
export { fetchWithToken, type FetchWithTokenOptions } from './attach/fetch.ts'
export type { ClientBaseUrl } from './attach/origins.ts'
export type { RejectedRequest } from './provider/token-provider.ts'
export type { TokenAttachmentEvent } from './provider/events.ts'
export { readRedirect, type Redirect } from './attach/follow-redirects.ts'
export type { ApiResponse } from './attach/is-token-rejected.ts'
export { dropsBackgroundWork } from './runtime/environment.ts'
export { refreshed, type Refreshed, type RefreshedOptions } from './runtime/refreshed.ts'
export { tokenSharing } from './sharing/token-sharing.ts'
export type { StoredCooldown, StoredToken, TokenLease, TokenStore } from './sharing/token-store.ts'
export {
  createGrantSource,
  type Grant,
  type GrantParameters,
  type GrantRequest,
} from './sources/grant-source.ts'
export type { TokenEndpointOptions } from './sources/client.ts'
export {
  authenticationIn,
  authenticationWays,
  environmentVariables,
  listOf,
  readerOf,
  type EnvironmentAuthentication,
} from './sources/environment-variables.ts'
export { keepOwner } from './runtime/own-request.ts'
export type { ApiChallenge, FirstRequest } from './protocol/token-source.ts'
