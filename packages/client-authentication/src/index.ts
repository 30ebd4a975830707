export { assertionFromFile } from './assertion-from-file.ts'
export { privateKeyJwt, type PrivateKeyJwtOptions } from './private-key-jwt.ts'
export type { SigningKeyInput } from './signing-key.ts'
