import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { oldNode } from '@tokenwell/internal-testing/old-node'
import { describe, expect, it } from 'vitest'
import { temporaryFolder, startProcess } from './tokenwell-process.ts'

const packageFolder = fileURLToPath(new URL('../', import.meta.url))
const service = fileURLToPath(new URL('../../token-service/dist', import.meta.url))
const startService = (loaded: string) =>
  `void (async () => { const { startTokenService } = ${loaded}; await startTokenService() })()`

/** The built command with its dependencies, and nothing else. */
function install(): string {
  const modules = join(temporaryFolder({}), 'node_modules')
  const installed = join(modules, 'tokenwell')
  mkdirSync(installed, { recursive: true })
  for (const part of ['dist', 'package.json']) {
    cpSync(join(packageFolder, part), join(installed, part), { recursive: true })
  }
  const { dependencies } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  for (const dependency of Object.keys(dependencies)) {
    mkdirSync(join(modules, dependency, '..'), { recursive: true })
    symlinkSync(join(packageFolder, 'node_modules', dependency), join(modules, dependency))
  }
  return join(installed, 'dist/tokenwell.js')
}

/** Runs the command in a process that claims to be an older version of Node. */
function onNode(version: string) {
  const script = join(packageFolder, 'dist/tokenwell.js')
  const versions = { ...process.versions, node: version }
  const claim = `Object.defineProperty(process, 'versions', { value: ${JSON.stringify(versions)} })`
  const preload = `data:text/javascript,${encodeURIComponent(claim)}`
  return startProcess([process.execPath, '--import', preload, script, '--version'])
}

describe('the installed command', () => {
  it.each(['20.19.0', '22.12.0'])('says on Node %s which version it requires', async (version) => {
    const old = onNode(version)
    expect((await old.ended).code).toBe(2)
    expect(old.written).toEqual({
      stdout: '',
      stderr: `tokenwell requires Node 22.13 or later. This is Node ${version}.\n`,
    })
  })

  it.skipIf(oldNode === undefined).each([
    ['the command', [join(packageFolder, 'dist/tokenwell.js'), 'doctor']],
    ['the command of the service', [join(service, 'command/tokenwell-service.js')]],
    ['the service as an ES module', ['-e', startService(`await import('${service}/index.js')`)]],
    ['the service in CommonJS', ['-e', startService(`require('${service}/index.cjs')`)]],
  ])('names the version that it requires on a real Node 20: %s', async (_name, args) => {
    const old = startProcess([oldNode!, ...args])
    expect((await old.ended).code).not.toBe(0)
    expect(old.written.stderr).toMatch(/requires Node 22\.13 or later[.;] [Tt]his is (Node |v)20\./)
    expect(old.written.stderr).not.toContain('SyntaxError')
  })

  it.each(['22.13.0', '26.0.0'])('runs on Node %s', async (version) => {
    expect((await onNode(version).ended).code).toBe(0)
  })

  it('works without the token service and reports how to install it for the sandbox', async () => {
    const script = install()
    const token = startProcess([process.execPath, script, 'token', '--help'])
    const sandbox = startProcess([process.execPath, script, 'sandbox'])
    expect((await token.ended).code).toBe(0)
    expect(token.written.stdout).toContain('Usage: tokenwell token')
    expect((await sandbox.ended).code).toBe(2)
    expect(sandbox.written.stderr).toMatch(
      /^tokenwell: The sandbox requires .*\n→ Run npm install @tokenwell\/token-service/,
    )
    expect(sandbox.written.stderr.trimEnd().split('\n')).toHaveLength(2)
  })
})
