// What docs/operations.md and docs/service/deploy.md tell an operator to do in a year, with the packed package: SQLite that another process
// locks, the move to PostgreSQL, two instances behind nginx with TLS of a private CA, one of them behind a pooler, a hash key that is
// replaced, backup and restore with the role of the page.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startPgbouncer } from '../../../../packages/internal-testing/src/postgres/pgbouncer.ts'
import { startPostgresServer } from '../../../../packages/internal-testing/src/postgres/private-postgres.ts'

const command = fileURLToPath(
  new URL('node_modules/@tokenwell/token-service/dist/command/tokenwell-service.js', import.meta.url),
)
const readPage = (name) => readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8')
const page = readPage('service/deploy.md')

const host = 'auth.example.com'
const folder = mkdtempSync(join(tmpdir(), 'tokenwell-walk-'))
const ending = []
const inFolder = (...names) => join(folder, ...names)
const write = (name, text) => writeFileSync(inFolder(name), text, { mode: 0o600 })
const execute = promisify(execFile)
/** Runs a program to its end; its output. */
const run = async (program, ...args) =>
  (await execute(program, args, { cwd: folder, env: environment })).stdout
const environment = {
  PATH: [process.env.PATH, '/usr/sbin', ...postgresPrograms()].join(':'),
  TOKENWELL_ADMIN_TOKEN: 'the administrator token of the walk',
  TOKENWELL_CONFIG: 'service.yaml',
}
const service = (...args) => run(process.execPath, command, ...args)
const admin = async (...args) => JSON.parse((await service('admin', ...args)) || 'null')

function postgresPrograms() {
  return readdirSync('/usr/lib/postgresql').map((version) => `/usr/lib/postgresql/${version}/bin`)
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

/** Starts an instance; resolves when it is ready. */
async function start(...args) {
  const child = spawn(process.execPath, [command, ...args], { cwd: folder, env: environment })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (output += text))
  child.stdout.resume()
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
  }
  ending.push(stop)
  for (const end = Date.now() + 60_000; !output.includes('listening on'); await delay(50))
    if (child.exitCode !== null || Date.now() > end) throw new Error(`The service did not start:\n${output}`)
  const [, url] = /listening on (\S+)/.exec(output)
  return {
    url,
    stop,
    output: () => output,
    ready: () => fetch(`${url}/readyz`).then((response) => response.json()),
  }
}

const tokenPath = '/oauth/client_credential/accesstoken?grant_type=client_credentials'
const form = (parameters) => new URLSearchParams(parameters).toString()
const credentials = ({ clientId, clientSecret }) => form({ client_id: clientId, client_secret: clientSecret })
const formType = { 'content-type': 'application/x-www-form-urlencoded' }
const introspection = (token) => ({
  path: '/oauth/introspect',
  body: form({ token }),
  headers: { authorization: `Basic ${btoa(`${api.clientId}:${api.clientSecret}`)}` },
})

let demo
let api

/** A request to an instance itself. */
async function send(url, { path, body, headers }) {
  const response = await fetch(url + path, { method: 'POST', body, headers: { ...formType, ...headers } })
  return { status: response.status, body: await response.json() }
}

try {
  const [adminPort, publicPort, firstPort, secondPort] = await Promise.all([1, 2, 3, 4].map(freePort))
  environment.TOKENWELL_ADMIN_URL = `http://127.0.0.1:${adminPort}`
  const publicUrl = `https://${host}:${publicPort}`
  write('service.yaml', `publicUrl: ${publicUrl}\ntrustProxy: 127.0.0.1\nlogLevel: warn\n`)
  const inSqlite = ['--storage', 'sqlite:tokenwell.db']
  const single = await start(...inSqlite, '--port', '0', '--admin-port', String(adminPort))
  const { id: projectId } = await admin('create-project', 'walk')
  demo = await admin('create-application', 'demo', '--project-id', projectId)
  api = await admin('create-resource-server', 'speech-api')

  // While another process locks the database for some milliseconds, as a backup does.
  const firstToken = (await send(single.url, { path: tokenPath, body: credentials(demo) })).body.access_token
  const backingUp = new DatabaseSync(inFolder('tokenwell.db'), { timeout: 5_000 })
  let locks = 0
  const locking = (async () => {
    for (; locks < 20; locks += 1, await delay(20)) {
      backingUp.exec('begin immediate')
      await delay(20)
      backingUp.exec('commit')
    }
  })()
  while (locks < 20) {
    const { status } = await send(single.url, { path: tokenPath, body: credentials(demo) })
    assert.equal(status, 200, 'while the database is locked for a moment')
  }
  await locking
  backingUp.close()
  const isRecorded = async () =>
    (await service('admin', 'audit', '--event', 'application_created')).includes(demo.clientId)
  assert.ok(await isRecorded())

  // From SQLite to PostgreSQL.
  await single.stop()
  await service('backup', 'backup.db', ...inSqlite)
  const postgres = await startPostgresServer()
  ending.push(() => postgres.stop())
  const server = new URL(postgres.url)
  Object.assign(environment, { PGHOST: server.hostname, PGPORT: server.port, PGUSER: server.username })
  /** Runs what a page says, with a role that has no privileges: the superuser of this server has the role's name. */
  const asDocumented = async (text, program) => {
    const [line] = new RegExp(`(?<=^|&& )${program} [^&\\n]+`, 'm').exec(text)
    const said = line.trim().replace(' --pwprompt', '').replaceAll('tokenwell', 'operator')
    await run(...said.replaceAll('127.0.0.1:5432', server.host).split(' '))
  }
  const databaseUrl = (name) => `postgres://operator@${server.host}/${name}`
  await asDocumented(page, 'createuser')
  await asDocumented(page, 'createdb')
  const firstKey = readFileSync(inFolder('tokenwell.db.keys'), 'utf8').trim()
  write('secret-hash-keys', `${firstKey}\n`)
  environment.TOKENWELL_STORAGE = databaseUrl('operator')
  environment.TOKENWELL_SECRET_HASH_KEYS_FILE = 'secret-hash-keys'
  await service('restore', 'backup.db')
  await assert.rejects(service('restore', 'backup.db'), /is not empty/)

  // Two instances behind nginx, with TLS of a private CA.
  const instance = (port, ...more) => start('--port', String(port), ...more)
  const pooler = await startPgbouncer(databaseUrl('operator'))
  ending.push(() => pooler.stop())
  const pooled = ['--storage', pooler.url]
  const instances = [
    await instance(firstPort, '--admin-port', String(adminPort)),
    await instance(secondPort, ...pooled),
  ]
  const restart = async (at) => {
    await instances[at].stop()
    instances[at] =
      at === 0
        ? await instance(firstPort, '--admin-port', String(adminPort))
        : await instance(secondPort, ...pooled)
  }
  const ca = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=A private CA']
  await run('openssl', 'req', ...ca, '-keyout', 'ca.key', '-out', 'ca.pem')
  write('names', `subjectAltName = DNS:${host}\n`)
  const certificate = ['-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${host}`, '-keyout', `${host}.key`]
  await run('openssl', 'req', ...certificate, '-out', 'request.pem')
  const signing = [
    '-req',
    '-in',
    'request.pem',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-days',
    '2',
  ]
  await run('openssl', 'x509', ...signing, '-extfile', 'names', '-out', `${host}.pem`)
  const [, documented] = /^```nginx \[nginx\.conf\]\n(.*?)^```/ms.exec(page)
  const adapted = documented
    .replaceAll('/etc/ssl/', `${folder}/`)
    .replace('listen 443 ', `listen 127.0.0.1:${publicPort} `)
    .replace('127.0.0.1:8080', `127.0.0.1:${firstPort}`)
    .replace('127.0.0.1:8081', `127.0.0.1:${secondPort}`)
  write(
    'nginx.conf',
    adapted.replace('http {', `http {\n  access_log off;\n  client_body_temp_path ${folder}/body;`),
  )
  const globally = `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log crit;`
  const nginx = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr', '-g', globally], {
    env: environment,
    stdio: 'inherit',
  })
  ending.push(async () => {
    nginx.kill('SIGQUIT')
    await once(nginx, 'exit')
  })
  /** A request to the public URL; the CA of its certificate is the only one that is trusted. */
  const sendPublicly = ({ path, body, headers }) =>
    new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: publicPort,
        servername: host,
        ca: readFileSync(inFolder('ca.pem')),
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers: { host: `${host}:${publicPort}`, ...(body !== undefined && formType), ...headers },
        agent: false,
      }
      request(options, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }))
      })
        .on('error', reject)
        .end(body)
    })
  const requestToken = (client = demo) => sendPublicly({ path: tokenPath, body: credentials(client) })
  for (const end = Date.now() + 20_000; ; await delay(100)) {
    const response = await requestToken().catch(() => undefined)
    if (response?.status === 200) break
    if (Date.now() > end) throw new Error(`nginx does not respond: ${JSON.stringify(response)}`)
  }
  const issued = await requestToken()
  assert.equal(issued.headers['strict-transport-security'], 'max-age=31536000')
  const metadata = await sendPublicly({ path: '/.well-known/oauth-authorization-server' })
  assert.equal(JSON.parse(metadata.text).issuer, publicUrl)
  for (const path of ['/metrics', '/readyz', '/healthz'])
    assert.equal((await sendPublicly({ path })).status, 404, path)
  const isActive = async (value) => JSON.parse((await sendPublicly(introspection(value))).text).active
  assert.equal(await isActive(firstToken), true, 'in PostgreSQL')
  assert.ok(await isRecorded())

  // A hash key is replaced, while clients request tokens.
  const load = { stop: false, statuses: [] }
  const loading = Promise.all(
    [1, 2].map(async () => {
      while (!load.stop) load.statuses.push((await requestToken()).status)
    }),
  )
  const secondKey = (await run('openssl', 'rand', '-hex', '32')).trim()
  const useKeys = async (...keys) => {
    write('secret-hash-keys', `${keys.join('\n')}\n`)
    for (const at of instances.keys()) await restart(at)
  }
  await useKeys(firstKey, secondKey)
  await useKeys(secondKey, firstKey)
  const [current, old] = await admin('hash-keys')
  assert.deepEqual([current.state, old.state], ['current', 'older'])
  assert.ok(old.neededBy.some(({ clientId }) => clientId === api.clientId))
  const rejected = await service('admin', 'remove-hash-key', old.id).catch((error) => error)
  assert.match(rejected.stderr, new RegExp(`cannot be removed: .*${api.clientId}`))
  assert.equal(await isActive(firstToken), true)
  await requestToken()
  for (const end = Date.now() + 20_000; ; await delay(500)) {
    const { secrets, neededBy } = (await admin('hash-keys')).find(({ id }) => id === old.id)
    if (secrets === 0) break
    if (Date.now() > end) throw new Error(`The old key is still needed by ${JSON.stringify(neededBy)}`)
  }
  await service('admin', 'remove-hash-key', old.id)
  await useKeys(secondKey)
  load.stop = true
  await loading
  assert.deepEqual([...new Set(load.statuses)], [200], `${load.statuses.length} token requests`)
  for (const { ready } of instances) assert.deepEqual(await ready(), { status: 'ok' })
  assert.ok(await isRecorded())
  assert.equal(await isActive(firstToken), true, 'after the replacement of the key')

  // Backup and restore.
  const latest = JSON.parse((await requestToken()).text).access_token
  const operations = readPage('operations.md')
  await asDocumented(operations, 'pg_dump')
  for (const { stop } of instances) await stop()
  await asDocumented(operations, 'createdb')
  await asDocumented(operations, 'pg_restore')
  environment.TOKENWELL_STORAGE = databaseUrl('restored')
  instances[0] = await instance(firstPort, '--admin-port', String(adminPort))
  assert.equal(await isActive(latest), true, 'in the restored database')
  assert.equal((await requestToken()).status, 200)
  assert.ok(await isRecorded())
  console.log(`${load.statuses.length} token requests while the key was replaced, none rejected`)
} finally {
  for (const end of ending.toReversed()) await end().catch(() => {})
  rmSync(folder, { recursive: true, force: true })
}
