import { digest } from '../runtime/digest.ts'
import { UsageError } from '../runtime/usage-error.ts'

/** Somebody else has changed what is to be changed. */
export class ChangedMeanwhile extends UsageError {
  constructor(what: string) {
    super(`${what} was changed in the meantime. Fetch it again, and repeat the change.`)
  }
}

/** What exists is not replaced without saying what it is known to be. */
export class RevisionRequired extends UsageError {
  constructor(what: string) {
    super(
      `${what} exists. Repeat the request with its revision in If-Match (--if-match), or with * to replace whatever it is now.`,
    )
  }
}

/** The revision of settings that do not count their changes: another one for other settings, the same however often they are used. */
export function revisionOf(settings: object): string {
  return digest(JSON.stringify(settings)).slice(0, 16)
}

/**
 * Compares in the act itself, so that no change gets lost.
 *
 * @param current that of what is to be changed, if it exists
 * @param seen the one that the change is based on; `*`: any
 * @throws {@link ChangedMeanwhile}
 */
export function checkRevision(what: string, current: string | undefined, seen: string | undefined): void {
  if (seen === undefined || (seen === '*' ? current !== undefined : seen === current)) return
  throw new ChangedMeanwhile(what)
}

/** For what replaces everything. @throws {@link RevisionRequired} @throws {@link ChangedMeanwhile} */
export function requireRevision(what: string, current: string | undefined, seen: string | undefined): void {
  if (current !== undefined && seen === undefined) throw new RevisionRequired(what)
  checkRevision(what, current, seen)
}
