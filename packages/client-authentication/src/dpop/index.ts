export { dpop, type DpopOptions } from './dpop.ts'
export type { KeyPairInput } from './proof-key.ts'
