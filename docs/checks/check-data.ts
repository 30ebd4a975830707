import { execFileSync, spawn, spawnSync } from 'node:child_process'
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
 * --generated` builds with Next.js.
 */
const shown = new Set(['js', 'ts', 'tsx', 'sh', 'yaml', 'json', 'ini', 'sql', 'text', 'nginx', 'mermaid'])

/** Starts the token service with each of its configurations, parses other data, and rejects unknown languages of blocks. */
export async function checkData(blocks: readonly Block[]): Promise<string[]> {
  const problems: string[] = []
  for (const { page, line, language, text } of blocks) {
    let problem = shown.has(language) ? undefined : `has a language that nothing checks: ${language}`
    if (language === 'json') problem = problemOfJson(text)
    if (language === 'yaml') problem = await problemOfConfiguration(text)
    if (language === 'nginx') problem = problemOfNginx(text)
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

/** What `nginx -t` finds, with a certificate of its own and a port that everybody may use. */
function problemOfNginx(configuration: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'tokenwell-nginx-'))
  try {
    const [, name] = /ssl_certificate \/etc\/ssl\/(\S+)\.pem;/.exec(configuration) ?? []
    if (name === undefined) return 'names no certificate in /etc/ssl'
    const files = ['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.pem`)]
    const certificate = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${name}`, ...files]
    execFileSync('openssl', certificate, { stdio: 'ignore' })
    const tested = configuration
      .replaceAll('/etc/ssl/', `${folder}/`)
      .replaceAll('listen 443 ', 'listen 127.0.0.1:8443 ')
    writeFileSync(join(folder, 'nginx.conf'), tested)
    const args = ['-t', '-p', folder, '-c', 'nginx.conf', '-e', 'stderr', '-g', `pid ${folder}/nginx.pid;`]
    const { error, status, stderr } = spawnSync('nginx', args, {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` },
    })
    if (error) return `could not be checked: install nginx (${error.message})`
    return status === 0 ? undefined : `is not a configuration of nginx: ${stderr}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
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
