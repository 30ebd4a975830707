import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFileTokenStore } from '@tokenwell/file-token-store'
import { describeTokenStore } from '@tokenwell/test-suite'
import { afterAll } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'tokenwell-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

describeTokenStore('the file store', () => createFileTokenStore({ folder: join(folder, 'plain') }))

const encryptionKey = randomBytes(32).toString('base64')
describeTokenStore('the encrypted file store', () =>
  createFileTokenStore({ folder: join(folder, 'encrypted'), encryptionKey }),
)
