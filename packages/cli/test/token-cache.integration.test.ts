import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { useSandboxedService } from './sandboxed-service.ts'
import { runTokenwell, temporaryFolder, command, startProcess, startTokenwell } from './tokenwell-process.ts'

const service = useSandboxedService()
const environment = () => ({ ...service.environmentOf('demo'), XDG_STATE_HOME: temporaryFolder({}) })
type Environment = ReturnType<typeof environment>

const folderOf = ({ XDG_STATE_HOME: state }: Environment) => join(state, 'tokenwell/tokens')
/** The folder of the only cached token. */
const entryOf = (env: Environment) => join(folderOf(env), readdirSync(folderOf(env))[0]!)
const requests = async () => (await service.journal()).counts.client['demo'] ?? 0

describe('the token cache', () => {
  it('is used by the next call', async () => {
    const env = environment()
    const first = await runTokenwell(['token'], env)
    expect(await runTokenwell(['token'], env)).toStrictEqual(first)
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(await requests()).toBe(1)
  })

  it('is private to its owner', async () => {
    const env = environment()
    await runTokenwell(['token'], env)
    const entry = entryOf(env)
    for (const folder of [join(env.XDG_STATE_HOME, 'tokenwell'), folderOf(env), entry])
      expect(statSync(folder).mode & 0o777).toBe(0o700)
    for (const file of readdirSync(entry)) expect(statSync(join(entry, file)).mode & 0o777).toBe(0o600)
  })

  it('is encrypted with TOKEN_CACHE_KEY, if it is set', async () => {
    const key = (byte: number) => Buffer.alloc(32, byte).toString('base64')
    const env = { ...environment(), TOKEN_CACHE_KEY: key(1) }
    const first = await runTokenwell(['token'], env)
    expect(await runTokenwell(['token'], env)).toStrictEqual(first)
    for (const file of readdirSync(entryOf(env)))
      expect(readFileSync(join(entryOf(env), file), 'latin1')).not.toContain(first.stdout.trim())
    const { stdout } = await runTokenwell(['token'], { ...env, TOKEN_CACHE_KEY: key(2) })
    expect(stdout).not.toBe(first.stdout)
    expect(await requests()).toBe(2)
    // During a rotation: the new key first.
    const rotating = { ...env, TOKEN_CACHE_KEY: `${key(3)},${key(1)}` }
    expect(await runTokenwell(['token'], rotating)).toStrictEqual(first)
    await runTokenwell(['logout'], env)
    expect(readdirSync(folderOf(env))).toEqual([])
  })

  it('is not used with an invalid TOKEN_CACHE_KEY', async () => {
    const env = { ...environment(), TOKEN_CACHE_KEY: 'short' }
    const { code, stdout, stderr } = await runTokenwell(['token'], env)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('TOKEN_CACHE_KEY must be 32 bytes')
    expect(await requests()).toBe(0)
  })

  it('is replaced with --fresh, at most once in 10 s', async () => {
    const env = environment()
    const first = await runTokenwell(['token'], env)
    const fresh = await runTokenwell(['token', '--fresh'], env)
    expect(fresh).toMatchObject({ code: 0, stderr: '' })
    expect(fresh.stdout).not.toBe(first.stdout)
    // Another one, in a loop, gets what is stored.
    for (const args of [['--fresh'], ['--fresh', '--header'], []])
      expect((await runTokenwell(['token', ...args], env)).stdout).toContain(fresh.stdout.trim())
    expect(await requests()).toBe(2)
  })

  it('is replaced with --fresh by one of several calls at the same time', async () => {
    const env = environment()
    await runTokenwell(['token'], env)
    await Promise.all(Array.from({ length: 3 }, () => runTokenwell(['token', '--fresh'], env)))
    expect(await requests()).toBe(2)
  })

  it('is replaced for the second call within the time of --fresh-after', async () => {
    const env = environment()
    const helper = async (...args: string[]) =>
      (await runTokenwell(['token', '--headers-json', '--fresh-after', '3600', ...args], env)).stdout
    await runTokenwell(['token'], env)
    const first = await helper()
    const second = await helper()
    expect(second).not.toBe(first)
    expect(await helper()).toBe(second)
    // Another entry has a time of its own.
    expect(await helper('--audience', 'orders')).not.toBe(second)
    expect(await requests()).toBe(3)
    expect(await runTokenwell(['token', '--fresh', '--fresh-after', '9'], env)).toMatchObject({ code: 2 })
  })

  it('is neither read nor written with --no-cache', async () => {
    const env = environment()
    const { stdout } = await runTokenwell(['token'], env)
    expect((await runTokenwell(['token', '--no-cache'], env)).stdout).not.toBe(stdout)
    expect((await runTokenwell(['token'], env)).stdout).toBe(stdout)
  })

  it('is emptied by logout', async () => {
    const env = environment()
    const { stdout } = await runTokenwell(['token'], env)
    writeFileSync(join(folderOf(env), 'notes.txt'), 'mine')
    const logout = await runTokenwell(['logout'], env)
    expect(logout).toStrictEqual({ code: 0, stdout: '', stderr: 'Removed all cached tokens.\n' })
    expect(readdirSync(folderOf(env))).toStrictEqual(['notes.txt'])
    expect((await runTokenwell(['token'], env)).stdout).not.toBe(stdout)
    expect((await runTokenwell(['logout'], { XDG_STATE_HOME: '/nonexistent' })).code).toBe(0)
  })

  it('requests a new token when the cached one expires within a minute', async () => {
    const env = { ...service.environmentOf('short-lived'), XDG_STATE_HOME: temporaryFolder({}) }
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const first = await runTokenwell(['token'], env)
    vi.advanceTimersByTime(20_000)
    expect((await runTokenwell(['token'], env)).stdout).toBe(first.stdout)
    vi.advanceTimersByTime(20_000)
    expect((await runTokenwell(['token'], env)).stdout).not.toBe(first.stdout)
  })

  it('causes one token request for 8 processes that start together', async () => {
    const env = environment()
    const processes = Array.from({ length: 8 }, () => startTokenwell(['token'], env))
    const ended = await Promise.all(processes.map(({ ended }) => ended))
    expect(ended.map(({ code }) => code)).toStrictEqual(processes.map(() => 0))
    const written = processes.map(({ written }) => written)
    expect(new Set(written.map(({ stdout }) => stdout)).size).toBe(1)
    expect(written.map(({ stderr }) => stderr).join('')).toBe('')
    expect(await requests()).toBe(1)
  })
})

describe('a token cache that cannot be used', () => {
  /** Runs the command, which must print a new token and one warning. */
  const warningOf = async (env: Environment) => {
    const before = await requests()
    const { code, stdout, stderr } = await runTokenwell(['token'], env)
    expect({ code, stdout }).toStrictEqual({ code: 0, stdout: expect.stringMatching(/^[\w-]{40,}\n$/) })
    expect(await requests()).toBe(before + 1)
    expect(stderr).toMatch(/^warning: .*\.\n$/)
    return stderr
  }

  it('is a folder that others can read', async () => {
    const env = environment()
    mkdirSync(folderOf(env), { recursive: true })
    chmodSync(folderOf(env), 0o755)
    expect(await warningOf(env)).toContain('(not_private)')
    expect(readdirSync(folderOf(env))).toStrictEqual([])
  })

  it('is a symbolic link instead of the folder', async () => {
    const env = environment()
    const elsewhere = temporaryFolder({})
    mkdirSync(join(env.XDG_STATE_HOME, 'tokenwell'))
    symlinkSync(elsewhere, folderOf(env))
    expect(await warningOf(env)).toContain(`${folderOf(env)} cannot be used (unexpected_file)`)
    expect(readdirSync(elsewhere)).toStrictEqual([])
  })

  it('is a symbolic link instead of the token', async () => {
    const env = environment()
    await runTokenwell(['token'], env)
    const target = join(temporaryFolder({ target: 'not ours' }), 'target')
    symlinkSync(target, join(entryOf(env), '100'))
    expect(await warningOf(env)).toContain('(ELOOP)')
    expect(readFileSync(target, 'utf8')).toBe('not ours')
  })

  it('is a file that others can read', async () => {
    const env = environment()
    await runTokenwell(['token'], env)
    const entry = entryOf(env)
    const file = join(entry, readdirSync(entry)[0]!)
    chmodSync(file, 0o644)
    const content = readFileSync(file)
    expect(await warningOf(env)).toContain('(not_private)')
    expect(readFileSync(file)).toStrictEqual(content)
  })

  it.skipIf(process.getuid?.() !== 0)('is a file or a folder of another user', async () => {
    const env = environment()
    await runTokenwell(['token'], env)
    const entry = entryOf(env)
    const file = join(entry, readdirSync(entry)[0]!)
    const content = readFileSync(file)
    for (const path of [file, entry, folderOf(env)]) {
      chownSync(path, 12_345, 12_345)
      expect(await warningOf(env)).toContain('(foreign_file)')
      chownSync(path, 0, 0)
    }
    expect(readFileSync(file)).toStrictEqual(content)
  })

  it('is a damaged file, which is replaced', async () => {
    const env = environment()
    await runTokenwell(['token'], env)
    const entry = entryOf(env)
    writeFileSync(join(entry, readdirSync(entry)[0]!), 'garbage')
    expect(await warningOf(env)).toContain(`${entry} is damaged. It will be replaced.`)
    const { stderr } = await runTokenwell(['token'], env)
    expect(stderr).toBe('')
  })

  it('is on a full disk', async () => {
    const env = environment()
    // A limit on the size of files fails each write, as a full disk does.
    const limited = ['/bin/sh', '-c', 'trap "" XFSZ; ulimit -f 0; exec "$@"', 'sh']
    const run = startProcess([...limited, ...command, 'token'], env)
    expect((await run.ended).code).toBe(0)
    expect(run.written.stdout).toMatch(/^[\w-]{40,}\n$/)
    expect(run.written.stderr).toMatch(/^warning: .* cannot be used \(EFBIG\).*\n$/)
    expect(readdirSync(entryOf(env))).toStrictEqual([])
  })
})
