export { attachTokens, type AttachableInstance } from './attach-tokens.ts'
export { withoutToken } from './without-token.ts'
