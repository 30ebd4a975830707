export {
  createTokenAttacher,
  type ApiResponse,
  type Attachment,
  type AttachableTokens,
  type AttachOptions,
  type AttachRequest,
  type SentRequest,
  type TokenAttacher,
} from './attach/attacher.ts'
export type { ClientBaseUrl } from './attach/origins.ts'
export { copyBody, isRepeatableBody } from './attach/body.ts'
export { fetchWithToken, type FetchWithTokenOptions } from './attach/fetch.ts'
export { readRedirect, type Redirect } from './attach/redirect.ts'
export type { RejectedRequest } from './provider/token-provider.ts'
export { tokenSharing } from './sharing/share.ts'
export type {
  StoredCooldown,
  StoredToken,
  TokenLease,
  TokenSharing,
  TokenStore,
} from './sharing/token-store.ts'
