/** A failure of the store. */
interface StoreError extends Error {
  /** Appears in events, such as `READONLY`. */
  readonly code: string
  /** Set if other keys are not affected. */
  readonly scope?: 'key' | undefined
  /** Whether Redis was not reached, or may have executed the command. */
  readonly isLost: boolean
}

/** Replies that concern one key, or one hash slot of a cluster. */
const repliesForKey = /^(TRYAGAIN|MOVED|ASK|CROSSSLOT|WRONGTYPE|CLUSTERDOWN Hash slot not served)\b/
/** Redis 7.0 reports a permission that is missing inside a script without a specific code. */
const missingPermission = /\bNOPERM\b|\bThe user executing the script can't /

export function storeError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, isLost: code === 'not_connected' })
}

/** @param cause an error of the client */
export function failedCommand(cause: unknown): Error {
  const reply = errorReply(cause)
  const facts: Omit<StoreError, keyof Error> = {
    code: reply === undefined ? codeOf(cause) : replyCode(reply),
    scope: reply !== undefined && repliesForKey.test(reply) ? 'key' : undefined,
    isLost: reply === undefined,
  }
  return Object.assign(new Error('The Redis command failed', { cause }), facts)
}

/** Whether a command may succeed, or may even have succeeded, once Redis is connected again. */
export function isLost(error: unknown): boolean {
  return (error as Partial<StoreError>).isLost === true
}

/** The text of an error reply of Redis; undefined for an error of the client. */
export function errorReply(error: unknown): string | undefined {
  const { code, message, cause } = (error ?? {}) as { code?: unknown; message?: unknown; cause?: unknown }
  if (typeof code === 'string') return undefined
  // Clients report the last of too many redirections inside another error; Redis 6, the error of a command in a script.
  const text = String(message).replace(
    /^(Too many .* ReplyError|ERR Error running script .*@user_script: ?\d+): /,
    '',
  )
  if (/^[A-Z]{2,30} /.test(text)) return text
  return cause === undefined ? undefined : errorReply(cause)
}

function replyCode(reply: string): string {
  return missingPermission.test(reply) ? 'NOPERM' : reply.slice(0, reply.indexOf(' '))
}

function codeOf(error: unknown): string {
  const { code, constructor } = (error ?? {}) as { code?: unknown; constructor: { name: string } }
  return typeof code === 'string' ? code : constructor.name
}
