import './request-option.ts'

export { attachTokens, type AttachableInstance } from './attach-tokens.ts'
