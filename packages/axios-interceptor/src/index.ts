export { attachTokens } from './attach-tokens.ts'
import './request-option.ts'
