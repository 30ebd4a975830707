import type { Keyring } from '../../runtime/keyring.ts'
import { UsageError } from '../../runtime/usage-error.ts'
import { countedEvents } from '../../storage/activity-recorder.ts'
import { chainStart, isHead, isStart, linkOf, withCode } from '../../storage/audit-chain.ts'
import type { AuditStorage, Checkpoint, PurgedCode, StartCheckpoint } from '../../storage/audit-storage.ts'

const pageSize = 1_000
const reported = 20

/** The audit log is not what the service wrote. */
export class AuditManipulated extends UsageError {
  /** The signed end of the chain as it is now, if the service signed it: later changes are found with it. */
  readonly checkpoint: Checkpoint | undefined

  constructor(problems: readonly string[], checkpoint: Checkpoint | undefined) {
    const more = problems.length > reported ? ` And ${problems.length - reported} more problems.` : ''
    super(`The audit log was manipulated. ${problems.slice(0, reported).join(' ')}${more}`)
    this.checkpoint = checkpoint
  }
}

export interface AuditVerification {
  /** How many entries the chain has. */
  readonly entries: number
  /** The signed end of the chain: keep it outside the database, and pass it to a later verification. */
  readonly checkpoint: Checkpoint
}

/**
 * Reads the whole chain of the audit log, and checks each code and the signed ends.
 *
 * @param kept an earlier checkpoint: without one, a log that was replaced by an older state of itself is not noticed
 * @throws {@link AuditManipulated} if an entry was removed, changed, added or cut off
 */
export async function verifyAudit(
  audit: AuditStorage,
  keyring: Keyring,
  kept?: Checkpoint,
): Promise<AuditVerification> {
  if (kept && !isHead(kept, keyring)) throw new UsageError('The checkpoint was not signed by this service.')
  const first = await audit.checkpoints()
  const { start } = first
  let { head } = first
  const problems: string[] = []
  /** The code of the entry with the number of the kept checkpoint. */
  let keptMac: string | undefined
  const see = ({ sequence, mac }: PurgedCode) => {
    if (sequence === kept?.sequence) keptMac = mac
  }
  const isPurged = await checkPurged(audit, start, see)
  if (!isPurged) problems.push('The codes of deleted entries were changed.')

  let last = { ...chainStart, ...start, id: 0 }
  let entries = 0
  let read = Number.MIN_SAFE_INTEGER
  for (;;) {
    const page = await audit.chain(read, pageSize)
    for (const entry of page) {
      const { sequence, mac, id } = entry
      read = sequence
      entries += 1
      if (sequence <= last.sequence) {
        problems.push(`Entry ${sequence} was added.`)
        continue
      }
      const link = linkOf(entry, last, keyring)
      if (sequence > last.sequence + 1) problems.push(missing(last.sequence + 1, sequence - 1))
      if (link === 'changed') problems.push(`Entry ${sequence} was changed.`)
      if (link === 'broken') problems.push(`Before entry ${sequence}, ${entry.detail}.`)
      if (id <= last.id) problems.push(`Entry ${sequence} was moved.`)
      see(entry)
      last = { ...last, sequence, mac, id }
    }
    if (page.length === pageSize) continue
    // The log may grow meanwhile, and lose its oldest entries.
    const now = await audit.checkpoints()
    if (now.start?.sequence !== start?.sequence) return verifyAudit(audit, keyring, kept)
    if (now.head?.sequence === head?.sequence) break
    head = now.head
  }
  if (start && !isStart(start, keyring)) problems.push('The signed start was changed.')
  const isSigned = head !== undefined && isHead(head, keyring)
  if (!head) problems.push('The signed end was removed.')
  else if (!isSigned) problems.push('The signed end was changed.')
  for (const end of [head, kept]) {
    if (end && end.sequence > last.sequence) problems.push(missing(last.sequence + 1, end.sequence))
  }
  if (head && head.sequence < last.sequence) problems.push(`Entries after ${head.sequence} were added.`)
  if (head?.sequence === last.sequence && head.mac !== last.mac) problems.push('The last entry was changed.')
  if (kept && kept.sequence <= last.sequence && keptMac !== kept.mac) {
    problems.push(`Entry ${kept.sequence} is not the one of the checkpoint.`)
  }
  const uncounted = (await audit.countedEvents()).filter(
    (event) => !(countedEvents as readonly string[]).includes(event),
  )
  for (const event of uncounted) problems.push(`There is an entry "${event}" outside the chain.`)
  if (!head || problems.length > 0)
    throw new AuditManipulated([...new Set(problems)], isSigned ? head : undefined)
  return { entries, checkpoint: head }
}

/** Whether the codes of the deleted entries are those that the signed start covers. */
async function checkPurged(
  audit: AuditStorage,
  start: StartCheckpoint | undefined,
  see: (code: PurgedCode) => void,
): Promise<boolean> {
  let history = ''
  let read = Number.MIN_SAFE_INTEGER
  for (;;) {
    const page = await audit.purgedCodes(read, pageSize)
    for (const code of page) {
      see(code)
      history = withCode(history, code)
      read = code.sequence
    }
    if (page.length < pageSize) return history === (start?.history ?? '')
  }
}

function missing(from: number, to: number): string {
  return from === to ? `Entry ${from} is missing.` : `Entries ${from} to ${to} are missing.`
}
