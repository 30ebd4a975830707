import { digest } from '../runtime/digest.ts'
import type {
  AuditEntry,
  AuditKeyring,
  ChainedEntry,
  Checkpoint,
  PurgedCode,
  StartCheckpoint,
} from './audit-storage.ts'

/** The entry that begins the chain anew after its end was not the one that the service signed. */
export const chainBroken = 'audit_interrupted'

/** How it says so if the key of the end is missing. */
export const unknownEnd = 'the end was signed with the key '

/** What precedes the first entry. */
export const chainStart = { sequence: 0, mac: '' }

export function signEntry(
  entry: AuditEntry,
  { sequence, mac: previousMac }: Pick<ChainedEntry, 'sequence' | 'mac'>,
  keyring: AuditKeyring,
): { sequence: number; keyId: string; mac: string } {
  const { keyId, hash: mac } = keyring.hash(entryText(entry, sequence + 1, previousMac))
  return { sequence: sequence + 1, keyId, mac }
}

/** Whether an entry is as the service wrote it, directly after the one with the code `previousMac`. */
function isEntry(entry: ChainedEntry, previousMac: string, keyring: AuditKeyring): boolean {
  const text = entryText(entry, entry.sequence, previousMac)
  return isSigned(text, { ...entry, hash: entry.mac }, keyringOf(entry, keyring))
}

/** The keys that may have signed an entry. */
export function keyringOf({ sequence }: { readonly sequence: number }, keyring: AuditKeyring): AuditKeyring {
  return keyring.forEntry?.(sequence) ?? keyring
}

/** How an entry follows from the one before it; `broken`: it begins the chain anew; `unknown`: the key that signed it is missing. */
export function linkOf(
  entry: ChainedEntry,
  previous: Pick<ChainedEntry, 'sequence' | 'mac'>,
  keyring: AuditKeyring,
): 'follows' | 'broken' | 'gap' | 'changed' | 'unknown' {
  if (entry.event === chainBroken && isEntry(entry, '', keyring)) return 'broken'
  if (entry.sequence !== previous.sequence + 1) return 'gap'
  if (isEntry(entry, previous.mac, keyring)) return 'follows'
  return keyringOf(entry, keyring).keyIds.includes(entry.keyId) ? 'changed' : 'unknown'
}

export function signHead(
  { sequence, mac }: Pick<Checkpoint, 'sequence' | 'mac'>,
  keyring: AuditKeyring,
): Checkpoint {
  const { keyId, hash: signature } = keyring.hash(headText(sequence, mac))
  return { sequence, mac, keyId, signature }
}

export function isHead({ sequence, mac, keyId, signature }: Checkpoint, keyring: AuditKeyring): boolean {
  return isSigned(headText(sequence, mac), { keyId, hash: signature }, keyring)
}

export function signStart(
  { sequence, mac, history }: Pick<StartCheckpoint, 'sequence' | 'mac' | 'history'>,
  keyring: AuditKeyring,
): StartCheckpoint {
  const { keyId, hash: signature } = keyring.hash(startText(sequence, mac, history))
  return { sequence, mac, history, keyId, signature }
}

export function isStart(
  { sequence, mac, history, keyId, signature }: StartCheckpoint,
  keyring: AuditKeyring,
): boolean {
  return isSigned(startText(sequence, mac, history), { keyId, hash: signature }, keyring)
}

/** The digest of the codes of all deleted entries, with one more. */
export function withCode(history: string, { sequence, mac }: PurgedCode): string {
  return digest(JSON.stringify([history, sequence, mac]))
}

function isSigned(
  text: string,
  { keyId, hash }: { readonly keyId: string; readonly hash: string },
  keyring: AuditKeyring,
): boolean {
  return keyring.matching([{ keyId, hash }], text).length > 0
}

function entryText(entry: AuditEntry, sequence: number, previousMac: string): string {
  const { atMs, event, actorType, actor, actorId, clientId, address, detail, changes, count } = entry
  const values = [atMs, event, actorType, actor, actorId, clientId, address, detail, changes, count]
  return JSON.stringify(['audit entry', previousMac, sequence, ...values])
}

function headText(sequence: number, mac: string): string {
  return JSON.stringify(['audit checkpoint', 'head', sequence, mac])
}

function startText(sequence: number, mac: string, history: string): string {
  return JSON.stringify(['audit checkpoint', 'start', sequence, mac, history])
}
