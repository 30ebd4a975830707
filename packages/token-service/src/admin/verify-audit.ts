import type { Keyring } from '../runtime/keyring.ts'
import { UsageError } from '../runtime/usage-error.ts'
import { countedEvents } from '../storage/activity-recorder.ts'
import {
  checkpointText,
  entryText,
  type AuditStorage,
  type ChainedEntry,
  type Checkpoint,
} from '../storage/audit-storage.ts'

const pageSize = 1_000
const reported = 20

/** The audit log is not what the service wrote. */
export class AuditManipulated extends UsageError {
  constructor(problems: readonly string[]) {
    const more = problems.length > reported ? ` And ${problems.length - reported} more problems.` : ''
    super(`The audit log was manipulated. ${problems.slice(0, reported).join(' ')}${more}`)
  }
}

export interface AuditVerification {
  /** How many entries the chain has. */
  readonly entries: number
  /** The signed end of the chain: keep it outside the database, and pass it to a later verification. */
  readonly checkpoint?: Checkpoint | undefined
}

/**
 * Reads the whole chain of the audit log, and checks each code and the signed ends.
 *
 * @param kept an earlier checkpoint: without one, a database that was replaced by an older copy of itself is not noticed
 * @throws {@link AuditManipulated} if an entry was removed, changed, added or cut off
 */
export async function verifyAudit(
  audit: AuditStorage,
  keyring: Keyring,
  kept?: Checkpoint,
): Promise<AuditVerification> {
  const isSigned = (text: string, keyId: string, hash: string) =>
    keyring.matching([{ keyId, hash }], text).length > 0
  const isCheckpoint = (end: 'start' | 'head', checkpoint: Checkpoint) =>
    isSigned(checkpointText(end, checkpoint), checkpoint.keyId, checkpoint.signature)

  if (kept && !isCheckpoint('head', kept))
    throw new UsageError('The checkpoint was not signed by this service.')
  const first = await audit.checkpoints()
  const { start } = first
  let { head } = first
  const problems: string[] = []

  let last: Pick<ChainedEntry, 'sequence' | 'mac' | 'id'> = { sequence: 0, mac: '', ...start, id: 0 }
  const keptEntries = new Map([[last.sequence, last.mac]])
  let entries = 0
  let read = Number.MIN_SAFE_INTEGER
  for (;;) {
    const page = await audit.chain(read, pageSize)
    for (const entry of page) {
      const { sequence, mac, keyId, id } = entry
      read = sequence
      entries += 1
      if (sequence <= last.sequence) {
        problems.push(`Entry ${sequence} was added.`)
        continue
      }
      if (sequence > last.sequence + 1) problems.push(missing(last.sequence + 1, sequence - 1))
      else if (!isSigned(entryText(entry, sequence, last.mac), keyId, mac)) {
        problems.push(`Entry ${sequence} was changed.`)
      }
      if (id <= last.id) problems.push(`Entry ${sequence} was moved.`)
      if (sequence === kept?.sequence) keptEntries.set(sequence, mac)
      last = entry
    }
    if (page.length === pageSize) continue
    // The log may grow meanwhile, and lose its oldest entries.
    const now = await audit.checkpoints()
    if (now.start?.sequence !== start?.sequence) return verifyAudit(audit, keyring, kept)
    if (now.head?.sequence === head?.sequence) break
    head = now.head
  }
  if (start && !isCheckpoint('start', start)) problems.push('The signed start was changed.')
  if (head && !isCheckpoint('head', head)) problems.push('The signed end was changed.')

  if (!head && entries > 0) problems.push('The signed end was removed.')
  for (const end of [head, kept]) {
    if (end && end.sequence > last.sequence) problems.push(missing(last.sequence + 1, end.sequence))
  }
  if (head && head.sequence < last.sequence) problems.push(`Entries after ${head.sequence} were added.`)
  if (head?.sequence === last.sequence && head.mac !== last.mac) problems.push('The last entry was changed.')
  const keptMac = kept && keptEntries.get(kept.sequence)
  if (keptMac !== undefined && keptMac !== kept?.mac) {
    problems.push(`Entry ${kept?.sequence} is not the one of the checkpoint.`)
  }
  const uncounted = (await audit.countedEvents()).filter(
    (event) => !(countedEvents as readonly string[]).includes(event),
  )
  for (const event of uncounted) problems.push(`There is an entry "${event}" outside the chain.`)
  if (problems.length > 0) throw new AuditManipulated([...new Set(problems)])
  return { entries, checkpoint: head }
}

function missing(from: number, to: number): string {
  return from === to ? `Entry ${from} is missing.` : `Entries ${from} to ${to} are missing.`
}
