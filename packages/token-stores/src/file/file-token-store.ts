import { randomUUID } from 'node:crypto'
import { lstatSync, readdirSync } from 'node:fs'
import { homedir, hostname, uptime } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import type { TokenStore } from '@tokenwell/core'
import { notifyListener } from '@tokenwell/core/protocol'
import { tokenSharing, type TokenLease } from '@tokenwell/core/adapter'
import { createEntryFormat, type Entry, type EntryKind } from '../format/entry-format.ts'
import {
  checkPrivateFolder,
  createPrivateFolder,
  readLatestVersion,
  removeAllVersions,
  writeNextVersion,
} from './versioned-file.ts'

/** An entry that was ignored, because it is damaged. */
export interface EntryUnreadableEvent {
  readonly type: 'entry_unreadable'
  /** The folder of the entry. */
  readonly path: string
}

/** Options of the file token store. */
export interface FileTokenStoreOptions {
  /** Only its owner may have access to it. @default `tokenwell/tokens` in `$XDG_STATE_HOME` or `~/.local/state` */
  readonly folder?: string | undefined
  /**
   * Keys of 32 bytes, as a `Uint8Array` or in base64. Entries are encrypted with the first one and decrypted with any of them.
   * Without keys, tokens are stored as plain text. @default none
   */
  readonly encryptionKeys?: readonly (string | Uint8Array)[] | undefined
  /** Called for each damaged entry. Entries of another encryption key have other names, so they are not found. */
  readonly onEvent?: ((event: EntryUnreadableEvent) => void) | undefined
}

/** A token store in files. */
export interface FileTokenStore extends TokenStore {
  readonly folder: string
  /** Removes all tokens and cooldowns of the store. */
  clear(): Promise<void>
}

/**
 * Creates a token store in files that only their owner can read: all commands and cron jobs of one user share one token
 * and one token request. Operations are synchronous: use it for short-lived programs, and the Redis or PostgreSQL store
 * for servers.
 *
 * @example
 * const tokens = clientCredentials({ ...credentialsFrom(process.env), store: createFileTokenStore() })
 *
 * @throws {TokenError} of kind `configuration` for an invalid encryption key
 */
export function createFileTokenStore(options: FileTokenStoreOptions = {}): FileTokenStore {
  const { encryptionKeys, onEvent } = options
  const folder = resolve(options.folder ?? defaultTokenFolder())
  const reportUnreadable = (name: string) =>
    void notifyListener(onEvent, { type: 'entry_unreadable', path: join(folder, name) })
  const format = createEntryFormat({ store: 'file store', encryptionKeys, onUnreadable: reportUnreadable })

  function readState(name: string): { readonly number: number; readonly state: StoredState } {
    const { number, content } = readLatestVersion(join(folder, name))
    if (content === undefined) return { number, state: {} }
    try {
      return { number, state: deserializeState(content.toString()) }
    } catch {
      reportUnreadable(name)
      return { number, state: {} }
    }
  }

  /** Changes the state atomically. `change` runs again if another process was faster; undefined leaves it unchanged. */
  function update(name: string, change: (state: StoredState) => StoredState | undefined): boolean {
    createPrivateFolder(folder)
    for (;;) {
      const { number, state } = readState(name)
      const next = change(state)
      if (next === undefined) return false
      const content = Buffer.from(serializeState(next))
      if (writeNextVersion(join(folder, name), number, content)) return true
    }
  }

  function createLease(
    cacheKey: string,
    slot: 'lease' | 'fallback',
    holderId: string,
    since: number,
  ): TokenLease {
    const [name] = format.names(cacheKey)
    const encode = <Kind extends EntryKind>(kind: Kind, entry: Entry<Kind>): string =>
      format.encode(cacheKey, kind, { ...entry, expiresAt: Math.floor(entry.expiresAt) })
    /** Changes the state as the holder of the lease; does nothing once the lease is lost. */
    const updateAsHolder = (change: (state: StoredState) => StoredState | undefined): boolean =>
      update(name, (state) => (state[slot]?.holderId === holderId ? change(state) : undefined))
    return {
      async write(response, lifetimeMs) {
        const id = randomUUID()
        const token = encode('token', { id, expiresAt: since + lifetimeMs, content: response })
        return updateAsHolder((state) => ({ ...state, token, cooldown: undefined })) ? id : undefined
      },
      async writeCooldown(error, ttlMs) {
        const entry = { id: randomUUID(), expiresAt: Date.now() + ttlMs, content: error }
        const cooldown = encode('cooldown', entry)
        updateAsHolder((state) => ({ ...state, cooldown }))
      },
      extend: async (ttlMs) =>
        updateAsHolder((state) => ({ ...state, [slot]: { holderId, since, expiresAt: Date.now() + ttlMs } })),
      async release() {
        updateAsHolder((state) => ({ ...state, [slot]: undefined }))
      },
    }
  }

  return {
    sharing: tokenSharing,
    folder,
    async read(cacheKey) {
      if (!exists(folder)) return undefined
      checkPrivateFolder(folder)
      const states = format.names(cacheKey).map((name) => readState(name).state)
      const now = Date.now()
      return format.read(
        cacheKey,
        states.map(({ token, cooldown }) => ({ now, token, cooldown })),
      )
    },
    async remove(cacheKey, id) {
      if (!exists(folder)) return
      for (const name of format.names(cacheKey)) {
        update(name, ({ token, ...state }) => (token?.startsWith(`${id}.`) ? state : undefined))
      }
    },
    async lease(cacheKey, ttlMs, fallback) {
      const slot = fallback ?? 'lease'
      const holderId = randomUUID()
      let since = 0
      const acquired = update(format.names(cacheKey)[0], (state) => {
        since = Date.now()
        return state[slot] ? undefined : { ...state, [slot]: { holderId, since, expiresAt: since + ttlMs } }
      })
      return acquired ? createLease(cacheKey, slot, holderId, since) : undefined
    },
    async clear() {
      if (!exists(folder)) return
      checkPrivateFolder(folder)
      const failures: unknown[] = []
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        if (!entry.isDirectory() || !entryName.test(entry.name)) continue
        try {
          removeAllVersions(join(folder, entry.name))
        } catch (error) {
          // The other entries are removed nevertheless.
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}

/** With the ID of the encryption key, if there is one. */
const entryName = /^([\w-]{8}\.)?[\w-]{43}$/

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/** The default folder: `tokenwell/tokens` in the user's state directory (XDG Base Directory Specification). */
export function defaultTokenFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const { XDG_STATE_HOME: state = '', HOME: home = homedir() } = env
  // The specification requires relative paths to be ignored.
  return join(isAbsolute(state) ? state : join(home, '.local/state'), 'tokenwell/tokens')
}

/** Everything that is stored for one cache key. Times are milliseconds since 1970. */
interface StoredState {
  /** Entries as the entry format encodes them. */
  readonly token?: string | undefined
  readonly cooldown?: string | undefined
  readonly lease?: StoredLease | undefined
  readonly fallback?: StoredLease | undefined
}

interface StoredLease {
  readonly holderId: string
  readonly since: number
  readonly expiresAt: number
}

/** When a state was written, by the wall clock and by the time since the machine started. */
interface WrittenAt {
  readonly writtenAt: number
  readonly machine: string
  readonly upMs: number
}

/** The clock may be adjusted by less than this without invalidating what is stored. */
const toleranceMs = 1_000

function serializeState(state: StoredState): string {
  const written: WrittenAt = { writtenAt: Date.now(), machine: hostname(), upMs: upMs() }
  return JSON.stringify({ ...written, ...state })
}

/** The leases that have not expired, and the entries. @throws for anything but a serialized state */
function deserializeState(text: string): StoredState {
  const { writtenAt, machine, upMs, ...state } = JSON.parse(text) as StoredState & WrittenAt
  const { token, cooldown, lease, fallback } = state
  const isState = [token, cooldown].every(isEntry) && [lease, fallback].every(isLease)
  if (typeof writtenAt !== 'number' || !isState) throw new TypeError('not a stored state')
  // A clock that was set back would extend every lifetime.
  if (Date.now() - writtenAt < elapsedMs(machine, upMs) - toleranceMs) return {}
  return { token, cooldown, lease: current(lease), fallback: current(fallback) }
}

/**
 * The time since a state was written, as far as the wall clock plays no part in it: a token that was stored while that
 * clock was ahead must not become valid again later. After a restart of the machine, it is less than the real time.
 */
function elapsedMs(machine: string, upMsThen: number): number {
  return machine === hostname() ? Math.max(0, upMs() - upMsThen) : 0
}

function upMs(): number {
  return Math.floor(uptime() * 1_000)
}

function current(lease: StoredLease | undefined): StoredLease | undefined {
  return lease && lease.expiresAt > Date.now() ? lease : undefined
}

function isEntry(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

function isLease(value: unknown): boolean {
  return value === undefined || typeof (Object(value) as { expiresAt?: unknown }).expiresAt === 'number'
}
