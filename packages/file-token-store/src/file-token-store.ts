import { randomUUID } from 'node:crypto'
import { lstatSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { TokenStore } from '@tokenwell/core'
import { notifyListener } from '@tokenwell/core/protocol'
import { tokenSharing, type TokenLease } from '@tokenwell/core/store'
import { defaultTokenFolder } from './default-token-folder.ts'
import { createEncoding } from './encryption.ts'
import { checkPrivateFolder, createPrivateFolder } from './private-files.ts'
import { deserializeState, serializeState, type StoredState } from './stored-state.ts'
import { readLatestVersion, removeAllVersions, writeNextVersion } from './versioned-file.ts'

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
  /** 32 bytes, as a `Uint8Array` or in base64. Without a key, tokens are stored as plain text. @default none */
  readonly encryptionKey?: string | Uint8Array | undefined
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
 * const tokens = createTokenProvider(source, { store: createFileTokenStore() })
 *
 * @throws {TokenError} of kind `configuration` for an invalid encryption key
 */
export function createFileTokenStore(options: FileTokenStoreOptions = {}): FileTokenStore {
  const { encryptionKey, onEvent } = options
  const folder = resolve(options.folder ?? defaultTokenFolder())
  const encoding = createEncoding(encryptionKey)

  function readState(name: string) {
    const path = join(folder, name)
    const { number, content } = readLatestVersion(path)
    if (content === undefined) return { number, state: {} }
    try {
      return { number, state: deserializeState(encoding.decode(name, content), Date.now()) }
    } catch {
      void notifyListener(onEvent, { type: 'entry_unreadable', path })
      return { number, state: {} }
    }
  }

  /** Changes the state atomically. `change` runs again if another process was faster; undefined leaves it unchanged. */
  function update(cacheKey: string, change: (state: StoredState) => StoredState | undefined): boolean {
    createPrivateFolder(folder)
    const name = encoding.nameOf(cacheKey)
    for (;;) {
      const { number, state } = readState(name)
      const next = change(state)
      if (next === undefined) return false
      const content = encoding.encode(name, serializeState(next, Date.now()))
      if (writeNextVersion(join(folder, name), number, content)) return true
    }
  }

  function createLease(
    cacheKey: string,
    slot: 'lease' | 'fallback',
    holderId: string,
    since: number,
  ): TokenLease {
    /** Changes the state as the holder of the lease; does nothing once the lease is lost. */
    const updateAsHolder = (change: (state: StoredState) => StoredState | undefined): boolean =>
      update(cacheKey, (state) => (state[slot]?.holderId === holderId ? change(state) : undefined))
    return {
      async write(response, lifetimeMs) {
        const token = { id: randomUUID(), expiresAt: since + lifetimeMs, response }
        return updateAsHolder(({ cooldown: _cooldown, ...state }) => ({ ...state, token }))
          ? token.id
          : undefined
      },
      async writeCooldown(error, ttlMs) {
        updateAsHolder((state) => ({ ...state, cooldown: { expiresAt: Date.now() + ttlMs, error } }))
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
      const { token, cooldown } = readState(encoding.nameOf(cacheKey)).state
      const now = Date.now()
      const stored = cooldown && { cooldownMs: cooldown.expiresAt - now, error: cooldown.error }
      if (token === undefined) return stored
      return { id: token.id, response: token.response, remainingMs: token.expiresAt - now, ...stored }
    },
    async remove(cacheKey, id) {
      if (!exists(folder)) return
      update(cacheKey, ({ token, ...state }) => (token?.id === id ? state : undefined))
    },
    async lease(cacheKey, ttlMs, fallback) {
      const slot = fallback ?? 'lease'
      const holderId = randomUUID()
      let since = 0
      const acquired = update(cacheKey, (state) => {
        since = Date.now()
        return state[slot] ? undefined : { ...state, [slot]: { holderId, since, expiresAt: since + ttlMs } }
      })
      return acquired ? createLease(cacheKey, slot, holderId, since) : undefined
    },
    async clear() {
      if (!exists(folder)) return
      checkPrivateFolder(folder)
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        if (entry.isDirectory() && /^[\w-]{43}$/.test(entry.name)) removeAllVersions(join(folder, entry.name))
      }
    },
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
