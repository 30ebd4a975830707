import './request-option.ts'

export { attachTokens, type AxiosAttachOptions } from './attach-tokens.ts'
