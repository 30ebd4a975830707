export { createTokenAttacher } from './attach/create-token-attacher.ts'
export type { RejectedRequest } from './provider/token-provider.ts'
export { tokenSharing } from './sharing/share.ts'
export type {
  StoredCooldown,
  StoredToken,
  TokenLease,
  TokenSharing,
  TokenStore,
} from './sharing/token-store.ts'
export { maxRedirects, networkError, readRedirect, type Redirect } from './attach/follow-redirect.ts'
export { copyBody, isRepeatableBody } from './attach/replayable-body.ts'
export type {
  ApiResponse,
  Attachment,
  AttachOptions,
  AttachRequest,
  TokenAttacher,
} from './attach/token-attacher.ts'
export { fetchWithToken, type FetchWithTokenOptions } from './attach/token-fetch.ts'
