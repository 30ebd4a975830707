import type { Sharing } from '../acquire-token.ts'
import type { TokenSharing } from '../../tokens/token-store.ts'
import { acquireSharedToken, removeSharedToken } from './acquire-shared-token.ts'

const sharing: Sharing = { acquire: acquireSharedToken, remove: removeSharedToken }

/** How providers share tokens through a store: one process requests a token, and the others wait for it. For authors of stores. */
export const tokenSharing: TokenSharing = sharing
