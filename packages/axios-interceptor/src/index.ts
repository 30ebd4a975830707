export { attachTokens, type AttachableInstance } from './attach-tokens.ts'
export { withoutToken } from './request-config.ts'
