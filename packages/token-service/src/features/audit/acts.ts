import { UsageError } from '../../runtime/usage-error.ts'
import { changesOf, type Act } from '../../storage/act.ts'
import { countedEvents } from '../../storage/activity-storage.ts'
import {
  type AuditKeyring,
  type AuditStorage,
  chainStart,
  type Checkpoint,
  isHead,
  isStart,
  keyringOf,
  linkOf,
  type PurgedCode,
  type StartCheckpoint,
  unknownEnd,
  withCode,
} from '../../storage/audit-storage.ts'
import { purgeTimeStorage } from '../../storage/purge-time.ts'

/** The clock is ahead of the time that it should show. */
export interface ClockJump {
  /** The last purge; `undefined` if the database does not have the signed time of one. */
  readonly lastPurgeMs: number | undefined
}

/** What is too old is deleted again: the clock is right, although it does not agree with the time since the last purge. */
export async function confirmClock(act: Act): Promise<void> {
  const purgeTime = purgeTimeStorage(act)
  const nowMs = act.clock.now()
  const lastPurgeMs = await purgeTime.find(act.keyring)
  await purgeTime.set(nowMs, act.keyring)
  act.audit('clock_confirmed', { changes: changesOf({ timeMs: nowMs }, { timeMs: lastPurgeMs }) })
}

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

/** A part of the audit log cannot be checked, and nothing else is wrong. */
export class AuditKeyMissing extends UsageError {
  readonly checkpoint: Checkpoint | undefined

  constructor(problems: readonly string[], checkpoint: Checkpoint | undefined) {
    super(`A part of the audit log could not be checked. ${problems.join(' ')}`)
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
 * @throws {@link AuditKeyMissing} if a key is missing that entries were signed with
 */
export async function verifyAudit(
  audit: AuditStorage,
  keyring: AuditKeyring,
  kept?: Checkpoint,
): Promise<AuditVerification> {
  if (kept && !isHead(kept, keyringOf(kept, keyring)))
    throw new UsageError('The checkpoint was not signed by this service.')
  const first = await audit.checkpoints()
  const { start } = first
  let { head } = first
  const problems: string[] = []
  const uncheckable: string[] = []
  /** What each missing key has signed: the first and the last of the entries, and the ends. */
  const unchecked = new Map<string, { entries: number[]; others: string[] }>()
  const uncheckedOf = (keyId: string) => {
    const known = unchecked.get(keyId) ?? { entries: [], others: [] }
    unchecked.set(keyId, known)
    return known
  }
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
      if (link === 'unknown') {
        const { entries: range } = uncheckedOf(entry.keyId)
        range[range.length === 0 ? 0 : 1] = sequence
      }
      if (link === 'changed') problems.push(`Entry ${sequence} was changed.`)
      if (link === 'broken') {
        const found = entry.detail?.startsWith(unknownEnd) ? uncheckable : problems
        found.push(`Before entry ${sequence}, ${entry.detail}.`)
      }
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
  const isSigned = head !== undefined && isHead(head, keyring)
  const ends = [
    { name: 'the signed start', end: start, isIntact: !start || isStart(start, keyring) },
    { name: 'the signed end', end: head, isIntact: isSigned },
  ]
  for (const { name, end, isIntact } of ends) {
    if (isIntact) continue
    if (end && !keyring.keyIds.includes(end.keyId)) uncheckedOf(end.keyId).others.push(name)
    else problems.push(`${name.replace('the', 'The')} was ${end ? 'changed' : 'removed'}.`)
  }
  for (const [
    keyId,
    {
      entries: [from, to],
      others,
    },
  ] of unchecked) {
    const range = to === undefined ? `entry ${from}` : `entries ${from} to ${to}`
    const what = new Intl.ListFormat('en').format([...(from === undefined ? [] : [range]), ...others])
    uncheckable.push(`The key "${keyId}" is missing in secretHashKeys, so ${what} could not be checked.`)
  }
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
  const end = isSigned ? head : undefined
  if (!head || problems.length > 0)
    throw new AuditManipulated([...new Set([...problems, ...uncheckable])], end)
  if (uncheckable.length > 0) throw new AuditKeyMissing(uncheckable, end)
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
