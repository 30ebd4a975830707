import './request-option.ts'

export { attachTokens } from './attach-tokens.ts'
