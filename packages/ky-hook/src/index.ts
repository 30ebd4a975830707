export { tokenHooks } from './token-hooks.ts'
