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
export { copyBody, isRepeatableBody } from './attach/body.ts'
export { fetchWithToken } from './attach/fetch.ts'
export { readRedirect, type Redirect } from './attach/redirect.ts'
export { tokenSharing } from './sharing/share.ts'
export type { StoredCooldown, StoredToken, TokenLease, TokenStore } from './sharing/token-store.ts'
