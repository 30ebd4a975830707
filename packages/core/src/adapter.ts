export { createTokenAttacher } from './attach/create-token-attacher.ts'
export type {
  AttachableTokenProvider,
  GetTokenToAttachOptions,
  RejectedRequest,
} from './provider/attachable-token-provider.ts'
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
