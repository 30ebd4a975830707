export {
  createEntryFormat,
  type Entry,
  type EntryContents,
  type EntryFormat,
  type EntryFormatOptions,
  type EntryKind,
  type FoundEntries,
} from './format/entry-format.ts'
