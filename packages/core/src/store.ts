export { tokenSharing } from './acquire/sharing/token-sharing.ts'
export type {
  StoredCooldown,
  StoredToken,
  TokenLease,
  TokenSharing,
  TokenStore,
} from './tokens/token-store.ts'
