export { createTokenAttacher } from './attach/create-token-attacher.ts'
export { isRepeatableBody } from './attach/replayable-body.ts'
export type {
  ApiResponse,
  Attachment,
  AttachOptions,
  AttachRequest,
  TokenAttacher,
} from './attach/token-attacher.ts'
export { fetchWithToken } from './attach/token-fetch.ts'
