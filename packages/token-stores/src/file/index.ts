export {
  createFileTokenStore,
  defaultTokenFolder,
  type EntryUnreadableEvent,
  type FileTokenStore,
  type FileTokenStoreOptions,
} from './file-token-store.ts'
