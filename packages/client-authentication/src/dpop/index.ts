export { dpop, type DpopOptions } from './dpop.ts'
export type { KeyPair, KeyPairInput } from './proof-key.ts'
