export { requireToken, type ConnectMiddleware } from './require-token.ts'
