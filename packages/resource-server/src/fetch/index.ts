export { requireToken, type TokenHandler } from './require-token.ts'
