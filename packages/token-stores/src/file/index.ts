export { defaultTokenFolder } from './default-token-folder.ts'
export {
  createFileTokenStore,
  type EntryUnreadableEvent,
  type FileTokenStore,
  type FileTokenStoreOptions,
} from './file-token-store.ts'
