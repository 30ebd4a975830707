import { copyFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createServiceLogger, describeEntry } from '../../src/command/service-logger.ts'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { application, introspect, requestToken, resourceServer, tokenPath } from '../test-service.ts'

const { clientId, clientSecret } = application
const settings = JSON.stringify({ port: 0, storage: 'memory', applications: [application] })

async function outcomeOf(args: string[], env: NodeJS.ProcessEnv = {}, cwd?: string) {
  const { ended } = runCommand(args, { env, ...(cwd !== undefined && { cwd }) })
  return await ended
}

describe('tokenwell-service', () => {
  it('prints its settings, their variables and their precedence', async () => {
    const { code, stdout } = await outcomeOf(['--help'])
    expect(code).toBe(0)
    for (const text of ['--port', 'TOKENWELL_STORAGE', '--sandbox', 'Precedence: flags, environment']) {
      expect(stdout).toContain(text)
    }
    expect((await outcomeOf(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+/)
  })

  it('starts from a file, issues a token, logs no secrets, and stops on SIGTERM', async () => {
    const cwd = temporaryFolder({ 'service.yaml': settings })
    const service = runCommand(['--config', 'service.yaml'], { cwd })
    const { status, body } = await requestToken(await service.authUrl)
    expect(status).toBe(200)
    const url = `${await service.authUrl}${tokenPath}?client_secret=${clientSecret}`
    expect((await fetch(url, { method: 'POST' })).status).toBe(400)
    service.child.kill('SIGTERM')
    const { code, stdout, stderr } = await service.ended
    expect(code).toBe(0)
    expect(stderr).toMatch(/is listening on.*Portal +http.*lost when the service stops.*Finishing/s)
    const line = stdout.split('\n').find((each) => each.includes('"msg":"request"')) ?? '{}'
    expect(JSON.parse(line)).toMatchObject({ path: tokenPath, status: 200, clientId })
    expect(stdout + stderr).not.toContain(clientSecret)
    expect(stdout + stderr).not.toContain(body.access_token)
  })

  it('says after an arrow how to correct a mistake', async () => {
    const messages = async (args: string[], env?: NodeJS.ProcessEnv) => (await outcomeOf(args, env)).stderr
    expect(await messages(['--port', 'x'])).toBe(
      'tokenwell-service: The setting "port" must be a whole number from 0 to 65535.\n' +
        '→ --port, TOKENWELL_PORT, or "port" in the configuration file\n',
    )
    expect(await messages(['--prt', '1'])).toBe(
      "tokenwell-service: Unknown option '--prt'.\n→ Did you mean --port?\n",
    )
    expect(await messages(['backup'])).toBe(
      "tokenwell-service: Missing required argument 'file'.\n" +
        '→ `tokenwell-service --help` lists the options and commands.\n',
    )
    expect(await messages(['--storage', 'memory'], { TOKENWELL_ADMIN_TOKEN: 'short' })).toContain(
      '\n→ TOKENWELL_ADMIN_TOKEN, or "adminToken" in the configuration file\n',
    )
    const kubernetes = { TOKENWELL_SERVICE_HOST: '10.0.0.1', TOKENWELL_PORT_8080_TCP_ADDR: '10.0.0.1' }
    expect(await messages(['--port', 'x'], { ...kubernetes, TOKENWELL_PROT: '1' })).toMatch(
      /^warning: TOKENWELL_PROT is set, but is not read\. `tokenwell-service --help` lists the variables\.\ntokenwell-service: /,
    )
    const cwd = temporaryFolder({
      'service.yaml': '{ storage: memory, applications: [{ name: 1 }], prt: 1 }',
    })
    expect((await outcomeOf(['--config', 'service.yaml'], {}, cwd)).stderr).toContain(
      '→ "applications[0].name" in the configuration file\n',
    )
  })

  it('logs lines for people in a terminal, with nothing that a client can make it do', async () => {
    const cwd = temporaryFolder({ 'service.yaml': settings })
    // `script` runs a command in a terminal of its own.
    const wrapper = [
      'bash',
      '-c',
      'exec script --quiet --flush --command "$(printf "%q " "$@")" /dev/null >&2',
      'bash',
    ]
    const service = runCommand(['--config', 'service.yaml'], { wrapper, cwd })
    expect((await requestToken(await service.authUrl)).status).toBe(200)
    await expect.poll(() => service.output()).toMatch(/\d\d:\d\d:\d\d.*POST \/oauth\S+ 200 in [\d.]+ ms/)
    expect(service.output()).not.toContain('"level":')
    // Whatever was logged until then stands below the addresses.
    const output = stripVTControlCharacters(service.output())
    expect(output.search(/^\d\d:\d\d:\d\d /m)).toBeGreaterThan(output.indexOf('First administrator'))
    const entry = {
      level: 40,
      time: 0,
      msg: 'request',
      method: 'GET',
      path: '/\u001b[2J',
      status: 404,
      ms: 1,
    }
    const line = describeEntry({ ...entry, clientId: '\u009b31m', err: new Error('a\u0007b') })
    expect(stripVTControlCharacters(line)).toMatch(
      /^\d\d:\d\d:\d\d warn: GET \/\\u001b\[2J 404 in 1 ms, clientId=\\u009b31m\n/,
    )
    expect(line).not.toMatch(/\u0007|\u009b|\u001b\[2J/)
    const written: string[] = []
    const logger = createServiceLogger('error', { write: (each) => void written.push(each) })
    logger.error(Object.assign(new Error('broken'), { code: '57P01', connection: { key: 'hidden' } }))
    expect(JSON.parse(written[0]!)).toMatchObject({
      msg: 'broken',
      err: { message: 'broken', code: '57P01' },
    })
    expect(written[0]).not.toContain('hidden')
  })

  it('stops as usual when nobody reads its output any more', async () => {
    const service = runCommand(['--port', '0', '--storage', 'memory'])
    const url = await service.authUrl
    service.child.stdout?.destroy()
    service.child.stderr?.destroy()
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    service.child.kill('SIGTERM')
    expect((await service.ended).code).toBe(0)
  })

  it('goes on when its log cannot be written, as on a full disk', async () => {
    const wrapper = ['bash', '-c', 'exec "$@" >/dev/full', 'bash']
    const args = ['--port', '0', '--storage', 'memory', '--config', 'service.yaml']
    const service = runCommand(args, { wrapper, cwd: temporaryFolder({ 'service.yaml': settings }) })
    const url = await service.authUrl
    for (let request = 0; request < 3; request++) {
      const { status } = await fetch(`${url}/unknown`, { signal: AbortSignal.timeout(20_000) })
      expect([status, (await requestToken(url)).status]).toEqual([404, 200])
    }
    service.child.kill('SIGTERM')
    expect((await service.ended).code).toBe(0)
  })

  it('prefers flags to the environment, and the environment to the file', async () => {
    const folder = temporaryFolder({ 'service.yaml': 'port: 0\nstorage: memory\nformat: nonsense\n' })
    const config = ['--config', join(folder, 'service.yaml')]
    expect((await outcomeOf(config)).stderr).toContain('"format" must be one of platform, standard')
    const env = { TOKENWELL_FORMAT: 'unknown' }
    expect((await outcomeOf(config, env)).stderr).toContain('"format" must be one of platform, standard')
    const service = runCommand([...config, '--format', 'standard'], { env })
    const response = await fetch((await service.authUrl) + tokenPath)
    expect(await response.json()).toHaveProperty('error')
    const byEnvironment = runCommand(config, { env: { TOKENWELL_FORMAT: 'standard' } })
    expect(await (await fetch((await byEnvironment.authUrl) + tokenPath)).json()).toHaveProperty('error')
  })

  it('limits failed authentications as configured', async () => {
    const limits = ['--failure-attempts', '2']

    const cwd = temporaryFolder({ 'service.yaml': settings })
    const service = runCommand(['--config', 'service.yaml', ...limits], { cwd })
    const wrong = { ...application, clientSecret: 'wrong' }
    const responses = []
    for (let attempt = 0; attempt < 3; attempt++) {
      responses.push(await requestToken(await service.authUrl, wrong))
    }
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 429])
    const seconds = Number(responses[2]!.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(60)
  })

  it('stores its data in an SQLite file beside its keys', async () => {
    const cwd = temporaryFolder({ 'service.json': JSON.stringify({ applications: [application] }) })
    const args = ['--port', '0', '--storage', 'sqlite:data.db', '--config', 'service.json']

    const first = runCommand(args, { cwd })
    expect((await requestToken(await first.authUrl)).status).toBe(200)
    await expect.poll(() => first.output()).toMatch(/Storage +SQLite, data\.db/)
    expect(statSync(join(cwd, 'data.db.keys')).mode & 0o777).toBe(0o600)

    const second = await outcomeOf(args, {}, cwd)
    expect(second.code).toBe(2)
    expect(second.stderr).toContain('data.db is in use by another process')

    first.child.kill('SIGTERM')
    expect((await first.ended).code).toBe(0)
    const again = runCommand(['--port', '0', '--storage', 'sqlite:data.db'], { cwd })
    expect((await requestToken(await again.authUrl)).status).toBe(200)
  })

  it('writes its compiled code for the next start while it runs, because it may be killed', async () => {
    const cwd = temporaryFolder({ 'service.json': settings })
    const service = runCommand(['--config', 'service.json'], { cwd, env: { NODE_COMPILE_CACHE: 'compiled' } })
    await service.authUrl
    const files = () => readdirSync(join(cwd, 'compiled'), { recursive: true, withFileTypes: true })
    await expect.poll(() => files().filter((file) => file.isFile())).not.toEqual([])
  })

  it('is not ready after SIGTERM, but keeps serving for the configured time', async () => {
    const cwd = temporaryFolder({ 'service.yaml': settings })
    const startWith = async (drainSeconds: string) => {
      const args = ['--config', 'service.yaml', '--drain-seconds', drainSeconds]
      const service = runCommand(args, { cwd })
      return { ...service, authUrl: await service.authUrl }
    }
    const long = await startWith('300')
    expect((await fetch(`${long.authUrl}/readyz`)).status).toBe(200)
    long.child.kill('SIGTERM')
    await expect.poll(() => long.output()).toContain('Finishing')
    expect((await fetch(`${long.authUrl}/readyz`)).status).toBe(503)
    expect((await requestToken(long.authUrl)).status).toBe(200)
    // A second signal stops it at once.
    long.child.kill('SIGTERM')
    expect((await long.ended).code).toBe(1)

    const short = await startWith('1')
    const stopped = performance.now()
    short.child.kill('SIGTERM')
    expect((await short.ended).code).toBe(0)
    expect(performance.now() - stopped).toBeGreaterThan(950)
  })

  it('backs up the database of a running service, and restores it elsewhere', async () => {
    const cwd = temporaryFolder({
      'service.json': JSON.stringify({
        port: 0,
        applications: [application],
        resourceServers: [resourceServer],
      }),
    })
    const service = runCommand(['--config', 'service.json', '--storage', 'sqlite:data.db'], { cwd })
    const { body } = await requestToken(await service.authUrl)
    const at = (file: string) => ['--storage', `sqlite:${file}`]
    const backup = await outcomeOf(['backup', 'backup.db', ...at('data.db')], {}, cwd)
    expect([backup.code, backup.stderr]).toEqual([
      0,
      expect.stringContaining(
        'without them, the service does not start. Unless you configured keys, they are in data.db.keys.',
      ),
    ])
    const rejected = await outcomeOf(['restore', 'backup.db', ...at('data.db')], {}, cwd)
    expect([rejected.code, rejected.stderr]).toEqual([2, expect.stringContaining('data.db is in use')])

    expect((await outcomeOf(['restore', 'backup.db', ...at('elsewhere/data.db')], {}, cwd)).code).toBe(0)
    const keyless = await outcomeOf(['--config', 'service.json', ...at('elsewhere/data.db')], {}, cwd)
    expect([keyless.code, keyless.stderr]).toEqual([2, expect.stringContaining('data.db.keys is missing')])
    copyFileSync(join(cwd, 'data.db.keys'), join(cwd, 'elsewhere', 'data.db.keys'))
    const restored = runCommand(['--config', 'service.json', ...at('elsewhere/data.db')], { cwd })
    expect((await introspect(await restored.authUrl, body.access_token)).body.active).toBe(true)

    // Also without a service that has the database open.
    service.child.kill('SIGTERM')
    await service.ended
    expect((await outcomeOf(['backup', 'second.db', ...at('data.db')], {}, cwd)).code).toBe(0)
    expect((await outcomeOf(['backup', 'third.db', ...at('missing.db')], {}, cwd)).stderr).toContain(
      'missing.db does not exist. Check the setting "storage".',
    )
  })

  it('reads secrets from files, relative to the configuration', async () => {
    const folder = temporaryFolder({
      'service.yaml': `port: 0
storageFile: storage
applications: [{ name: a, clientId: ${clientId}, clientSecretFile: secret }]
resourceServers: [{ clientId: api, clientSecretFile: missing }]
`,
      storage: 'memory\n',
      secret: `${clientSecret}\n`,
    })
    const config = ['--config', join(folder, 'service.yaml')]
    expect((await outcomeOf(config)).stderr).toContain(`Could not read ${join(folder, 'missing')} (ENOENT).`)
    writeFileSync(join(folder, 'missing'), 'an api secret')
    const service = runCommand(config)
    expect((await requestToken(await service.authUrl)).status).toBe(200)
    await expect.poll(() => service.output()).toContain('everything is lost')
  })

  it('opens a sandbox', async () => {
    const folder = temporaryFolder({ 'service.yaml': settings })
    const service = runCommand(['--config', join(folder, 'service.yaml'), '--sandbox'])
    await service.authUrl
    await expect
      .poll(() => service.output(), { timeout: 20_000 })
      .toMatch(/Sandbox +http:\/\/127\.0\.0\.1:\d+/)
  })

  it('exits with 2 on unknown flags, also of its commands', async () => {
    for (const args of [['--unknown'], ['admin', 'revoke', '-unknown']]) {
      expect(await outcomeOf(args)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/^tokenwell-service: Unknown option '--?unknown'/),
      })
    }
  })

  it('reports a usage error in one sentence, without secrets', async () => {
    const { code, stderr, stdout } = await outcomeOf(['--storage', 'postgres://u:canary@127.0.0.1:1/x'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/"secretHashKeys" is missing/)
    expect(stderr).not.toMatch(/^\s+at |canary/m)
  })

  function outcomeWithoutPostgres(error: string, code: string) {
    const hook = `import { registerHooks } from 'node:module'
      const failure = Object.assign(new Error('${error}'), { code: '${code}' })
      const resolve = (name, context, next) => {
        if (name === 'pg') throw failure
        return next(name, context)
      }
      registerHooks({ resolve })`
    const env = {
      TOKENWELL_SECRET_HASH_KEYS: 'k'.repeat(32),
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook)}`,
    }
    return outcomeOf(['--storage', 'postgres://u@127.0.0.1:1/x'], env)
  }

  it('reports that the package for PostgreSQL is missing', async () => {
    const { code, stderr } = await outcomeWithoutPostgres('canary', 'ERR_MODULE_NOT_FOUND')
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('requires the package pg. Run npm install pg.'),
    ])
    expect(stderr).not.toContain('canary')
  })

  it('reports why the package for PostgreSQL cannot be loaded', async () => {
    const { code, stderr } = await outcomeWithoutPostgres('not readable', 'EACCES')
    expect([code, stderr]).toEqual([1, expect.stringContaining('not readable')])
    expect(stderr).not.toContain('npm install')
  })

  it('reports that the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const { code, stderr } = await outcomeOf(['--storage', 'memory', '--port', String(port)])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`Port ${port} on 127.0.0.1 is in use`)])
  })

  it('waits for a database that cannot be reached, reports it, and stops on SIGTERM', async () => {
    const env = { TOKENWELL_SECRET_HASH_KEYS: 'k'.repeat(32) }
    const args = ['--port', '0', '--storage', 'postgres://u:canary@127.0.0.1:1/x']
    const service = runCommand(args, { env })
    expect((await fetch(`${await service.authUrl}/readyz`)).status).toBe(503)
    await expect.poll(() => service.output()).toMatch(/127\.0\.0\.1:1\/x cannot be used: .*ECONNREFUSED/)
    service.child.kill('SIGTERM')
    expect((await service.ended).code).toBe(0)
    expect(service.output()).not.toContain('canary')
  })

  it.each(['20.19.0', '22.12.0'])('names the version of Node that it requires: not %s', async (version) => {
    const hook = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`
    const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook)}` }
    const { code, stderr } = await outcomeOf(['--version'], env)
    expect([code, stderr]).toEqual([
      2,
      `tokenwell-service requires Node 22.13 or later. This is Node ${version}.\n`,
    ])
  })
})
