export { requireToken, resourceMetadata, type ConnectMiddleware } from './require-token.ts'
