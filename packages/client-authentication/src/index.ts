export { assertionFromFile } from './assertion-from-file.ts'
export {
  clientAuthenticationFrom,
  type ClientAuthenticationFromOptions,
} from './client-authentication-from.ts'
export { privateKeyJwt, type PrivateKeyJwtOptions } from './private-key-jwt.ts'
export type { SigningKeyInput } from './signing-key.ts'
export {
  awsIdentity,
  azureIdentity,
  gcpIdentity,
  githubActionsIdentity,
  type AwsIdentityOptions,
  type AzureIdentityOptions,
  type GcpIdentityOptions,
  type GithubActionsIdentityOptions,
} from './identities.ts'
export type { IdentitySource } from './identity-source.ts'
