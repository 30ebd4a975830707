export { defaultTokenFolder } from './file-token-store.ts'
export {
  createFileTokenStore,
  type EntryUnreadableEvent,
  type FileTokenStore,
  type FileTokenStoreOptions,
} from './file-token-store.ts'
