export { requireToken, resourceMetadata, type TokenHandler } from './require-token.ts'
