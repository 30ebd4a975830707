export { assertionFromFile } from './assertion-from-file.ts'
export { privateKeyJwt, type PrivateKeyJwtOptions } from './private-key-jwt.ts'
export type { SigningKeyInput } from './signing-key.ts'
export { awsIdentity, type AwsIdentityOptions } from './identity/aws-identity.ts'
export { azureIdentity, type AzureIdentityOptions } from './identity/azure-identity.ts'
export { gcpIdentity, type GcpIdentityOptions } from './identity/gcp-identity.ts'
export {
  githubActionsIdentity,
  type GithubActionsIdentityOptions,
} from './identity/github-actions-identity.ts'
export type { IdentitySource } from './identity/identity-token.ts'
