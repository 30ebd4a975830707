export { tokenHooks, type TokenHooksOptions } from './token-hooks.ts'
