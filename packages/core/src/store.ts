export { tokenSharing } from './acquire/sharing/acquire-shared-token.ts'
export type {
  StoredCooldown,
  StoredToken,
  TokenLease,
  TokenSharing,
  TokenStore,
} from './acquire/sharing/token-store.ts'
