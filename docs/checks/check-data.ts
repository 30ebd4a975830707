import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Block } from './read-blocks.ts'
import { root } from './read-site.ts'

const command = join(root, 'packages/token-service/dist/command/tokenwell-service.js')
/**
 * Languages of blocks. JavaScript shows configurations of Jest, which `pnpm check:compatibility` runs, SQL the
 * table of the PostgreSQL store, which a test of the store compares, TSX the page that `pnpm release:rehearse
 * --generated` builds with Next.js, Python the check of a webhook's signature, which a test of the token service runs.
 */
const shown = new Set(['js', 'ts', 'tsx', 'sh', 'yaml', 'json', 'ini', 'sql', 'py', 'text'])

/** Starts the token service with each of its configurations, parses other data, and rejects unknown languages of blocks. */
export async function checkData(blocks: readonly Block[]): Promise<string[]> {
  const problems: string[] = []
  for (const { page, line, language, text } of blocks) {
    let problem = shown.has(language) ? undefined : `has a language that nothing checks: ${language}`
    if (language === 'json') problem = problemOfJson(text)
    if (language === 'yaml') problem = await problemOfConfiguration(text)
    if (problem !== undefined) problems.push(`${page}:${line} ${problem}`)
  }
  return problems
}

function problemOfJson(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch {
    return 'is not JSON'
  }
}

/** The public key that a configuration names. */
const { publicKey } = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

/** The error of starting it, on a free port and with a temporary storage. */
async function problemOfConfiguration(yaml: string): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'tokenwell-docs-'))
  writeFileSync(join(folder, 'service.yaml'), yaml)
  writeFileSync(join(folder, 'orders.pem'), publicKey)
  writeFileSync(join(folder, 'keys'), `${'k'.repeat(44)}\n`, { mode: 0o600 })
  writeFileSync(join(folder, 'openid-secret'), 'not-for-production\n')
  const args = ['--config', 'service.yaml', '--port', '0', '--host', '127.0.0.1', '--storage', 'memory']
  const child = spawn(process.execPath, [command, ...args], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  const started = await new Promise<boolean>((resolve) => {
    child.stderr.on('data', (text) => (said += text) && said.includes('is listening on') && resolve(true))
    child.once('exit', () => resolve(false))
  })
  child.kill()
  rmSync(folder, { recursive: true })
  return started ? undefined : `does not start the token service: ${said}`
}
