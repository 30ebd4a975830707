import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { commandSettings, settingFlags } from '../../src/command/command-settings.ts'
import { parseCommandLine } from '../../src/command/parse-command-line.ts'
import { runService } from '../../src/command/run-service.ts'
import { UsageError } from '../../src/runtime/usage-error.ts'
import { temporaryFolder } from '../service-process.ts'

// Lists of objects are in a file; secrets are in a file or a variable.
const withoutFlag = [
  'applications',
  'trustedIssuers',
  'resourceServers',
  'openidProvider',
  'secretHashKeys',
  'adminToken',
]

const values: Readonly<Record<string, [text: string, value: unknown]>> = {
  port: ['1234', 1234],
  host: ['::1', '::1'],
  storage: ['memory', { kind: 'memory' }],
  format: ['standard', 'standard'],
  signingAlgorithm: ['EdDSA', 'EdDSA'],
  products: ['a, b', ['a', 'b']],
  secretOverlapSeconds: ['60', 60],
  scopes: ['orders:read,orders:write', ['orders:read', 'orders:write']],
  failureAttempts: ['3', 3],

  publicUrl: ['https://auth.example.com', 'https://auth.example.com'],
  trustProxy: ['true', true],
  corsOrigins: [
    'https://a.example.com,https://b.example.com',
    ['https://a.example.com', 'https://b.example.com'],
  ],
  logLevel: ['warn', 'warn'],
  drainSeconds: ['5', 5],
  metrics: ['false', false],
  adminPort: ['1235', 1235],
  adminHost: ['::1', '::1'],
  auditRetentionDays: ['7', 7],
  usageRetentionDays: ['30', 30],
  jwksAllowedHosts: ['keys.internal,10.0.0.0/8', ['keys.internal', '10.0.0.0/8']],
  sandbox: ['1236', { port: 1236 }],
}

async function configurationOf(...args: string[]) {
  const commandLine = await parseCommandLine(['node', 'tokenwell-service', ...args])
  if (!('configuration' in commandLine)) throw new Error('These are the arguments of the service.')
  return commandLine.configuration as Readonly<Record<string, unknown>>
}

describe('a setting', () => {
  it('is in the file, and is a flag with a description unless it is a list of objects or a secret', () => {
    // The others were removed: they are read for their error alone.
    const options = settingFlags().filter(({ hidden }) => !hidden)
    expect(options.filter(({ description }) => description === '')).toEqual([])
    const flags = options.map((option) => option.attributeName())
    const settings = Object.keys(commandSettings.shape).filter((name) => name !== 'webhookAllowedHosts')
    expect(flags.filter((name) => name !== 'config').toSorted()).toEqual(
      settings.filter((name) => !withoutFlag.includes(name)).toSorted(),
    )
    const files = [
      'storageFile',
      'secretHashKeysFile',

      'adminTokenFile',
    ]
    expect(flags.filter((name) => name !== 'config' && !files.includes(name)).toSorted()).toEqual(
      Object.keys(values).toSorted(),
    )
  })

  it.each(Object.entries(values))(
    '%s has the same effect as flag, variable and in the file',
    async (name, [text, value]) => {
      const option = settingFlags().find((each) => each.attributeName() === name)
      if (!option?.long || !option.envVar) throw new Error('There is no such option.')
      expect((await configurationOf(option.long, text))[name]).toEqual(value)
      vi.stubEnv(option.envVar, text)
      expect((await configurationOf())[name]).toEqual(value)
      vi.unstubAllEnvs()
      // The value in a file is what a flag has as text, but for numbers and lists.
      const isText = typeof value === 'object' && !Array.isArray(value)
      const folder = temporaryFolder({
        'service.json': JSON.stringify({
          [name]: isText ? (name === 'sandbox' ? Number(text) : text) : value,
        }),
      })
      expect((await configurationOf('--config', `${folder}/service.json`))[name]).toEqual(value)
    },
  )
})

it('reads secrets from variables', async () => {
  vi.stubEnv('TOKENWELL_SECRET_HASH_KEYS', `${'1'.repeat(32)}, ${'2'.repeat(32)}`)
  vi.stubEnv('TOKENWELL_ADMIN_TOKEN', '3'.repeat(32))
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await configurationOf()).toMatchObject({
    secretHashKeys: ['1'.repeat(32), '2'.repeat(32)],
    adminToken: '3'.repeat(32),
  })
})

const openidProvider = {
  name: 'Example',
  issuer: 'https://login.example.com',
  clientId: 'portal',
  developerGroups: ['engineering'],
}

it('reads the secret of the OpenID provider from a variable, a file or the configuration', async () => {
  const withSecret = async (settings: object) => {
    const folder = temporaryFolder({
      secret: 'of-the-file\n',
      'service.json': JSON.stringify({ openidProvider: { ...openidProvider, ...settings } }),
    })
    const { openidProvider: read } = await configurationOf('--config', `${folder}/service.json`)
    return (read as { clientSecret: string }).clientSecret
  }
  expect(await withSecret({ clientSecret: 'of-the-configuration' })).toBe('of-the-configuration')
  expect(await withSecret({ clientSecretFile: 'secret' })).toBe('of-the-file')
  vi.stubEnv('TOKENWELL_OPENID_CLIENT_SECRET', 'of-the-variable')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await withSecret({})).toBe('of-the-variable')
  expect(await withSecret({ clientSecretFile: 'secret' })).toBe('of-the-variable')
})

it.each([
  [{ developerGroups: undefined }, /openidProvider\.developerGroups" must be a list of groups, or "\*"/],
  [{ issuer: 'http://login.example.com' }, /openidProvider\.issuer" must be an https URL/],
  [{ scopes: ['profile'] }, /openidProvider\.scopes" must contain openid/],
  [{ clientSecret: undefined }, /openidProvider\.clientSecret" is missing/],
])('rejects an OpenID provider with %j', async (settings, message) => {
  const provider = { ...openidProvider, clientSecret: 'canary', ...settings }
  const folder = temporaryFolder({ 'service.json': JSON.stringify({ openidProvider: provider }) })
  const rejected = configurationOf('--config', `${folder}/service.json`)
  await expect(rejected).rejects.toThrow(message)
  await expect(rejected).rejects.not.toThrow('canary')
})

it('reads secrets and public keys from files, relative to the configuration', async () => {
  const folder = temporaryFolder({
    'service.json': JSON.stringify({
      applications: [
        { name: 'a', clientId: 'a', clientSecretFile: 'secret' },
        { name: 'b', clientId: 'b', publicKeyFile: 'key.pem' },
      ],
      resourceServers: [{ clientId: 'c', clientSecretFile: 'secret' }],
    }),
    secret: 'the secret\n',
    'key.pem': 'the key\n',
  })
  expect(await configurationOf('--config', join(folder, 'service.json'))).toMatchObject({
    applications: [
      { clientId: 'a', clientSecret: 'the secret' },
      { clientId: 'b', publicKey: 'the key\n' },
    ],
    resourceServers: [{ clientId: 'c', clientSecret: 'the secret' }],
  })
})

describe('a usage error', () => {
  const folder = () =>
    temporaryFolder({
      'broken.yaml': 'port: 1\nkeys: ["canary\n',
      'unknown.yaml': 'prot: canary\n',
      'list.yaml': '- canary\n',
      'applications.yaml': 'applications: { canary: 1 }\n',
      'servers.yaml': 'resourceServers: [canary]\n',
      'nameless.yaml': 'applications: [{ clientId: canary }]\n',
      'unknown-field.yaml': 'applications: [{ nmae: canary, name: canary, clientId: canary, x: 1 }]\n',
      'long-name.yaml': `applications: [{ name: ${'canary'.repeat(40)}, clientId: canary }]\n`,
      'no-port.yaml': 'adminPort:\n',
      'no-client.yaml': 'applications:\n  -\n',
      'no-set.yaml': 'applications: [{ name: canary, clientId: canary, jwks: canary }]\n',
      'no-text.yaml': 'applications: [{ name: canary, clientId: canary, publicKey: 1 }]\n',
      'short.keys': 'canary\n',
    })

  it.each([
    [['--port', '99999'], /"port" must be a whole number from 0 to 65535\.$/],
    [['--port', 'canary'], /"port" must be a whole number from 0 to 65535\.$/],
    [['--port', ''], /"port" must be a whole number from 0 to 65535\.$/],
    [['--port', '0x50'], /"port" must be a whole number from 0 to 65535\.$/],
    [['--config', 'no-port.yaml'], /"adminPort" must be a whole number from 0 to 65535\.$/],
    [['--secret-overlap-seconds', ''], /"secretOverlapSeconds" must be a number\.$/],
    [['--drain-seconds', ' '], /"drainSeconds" must be a number\.$/],
    [['--failure-attempts', 'canary'], /"failureAttempts" must be a number\.$/],
    [['--failure-attempts', '0'], /"failureAttempts" must be at least 1\.$/],
    [['--drain-seconds', '4000'], /"drainSeconds" must be at most 3600\.$/],
    [['--failure-attempts', '1.5'], /"failureAttempts" must be a whole number\.$/],
    [['--audit-retention-days', '0'], /"auditRetentionDays" must be at least 1\.$/],

    [['--metrics', 'canary'], /"metrics" must be true or false\.$/],
    [['--host', ''], /"host" must not be empty\.$/],
    [['--config', 'long-name.yaml'], /"applications\[0\]\.name" must have at most 200 characters\.$/],
    [['--config', 'no-client.yaml'], /"applications\[0\]" must be an object\.$/],
    [['--config', 'no-set.yaml'], /"applications\[0\]\.jwks" must be an object\.$/],
    [['--config', 'no-text.yaml'], /"applications\[0\]\.publicKey" must be a string\.$/],
    [['--format', 'canary'], /"format" must be one of platform, standard\.$/],
    [['--sandbox', ''], /"sandbox" must be true, false or a port\.$/],
    [['--sandbox', 'canary'], /"sandbox" must be true, false or a port\.$/],
    [['--public-url', 'canary'], /"publicUrl" must be an absolute URL that starts with https/],
    [['--public-url', 'httpsx://a.example'], /"publicUrl" must be an absolute URL that starts with https/],
    [['--public-url', 'https://a.example?a=b'], /"publicUrl" must not contain a query or a fragment\.$/],
    [['--public-url', 'https://a.example/#'], /"publicUrl" must not contain a query or a fragment\.$/],
    [['--products', 'a,[b]'], /"products\[1\]" must not contain commas or brackets/],
    [['--config', 'nameless.yaml'], /"applications\[0\]\.name" is missing\.$/],
    [['--config', 'unknown-field.yaml'], /"applications\[0\]\.nmae" is unknown\.$/],
    [['--storage', 'nowhere'], /"memory", "sqlite:FILE" or a postgres/],
    [['--config', 'missing.yaml'], /Could not read .*missing\.yaml \(ENOENT\)/],
    [['--config', 'broken.yaml'], /broken\.yaml is not valid YAML or JSON \(line \d\)/],
    [['--config', 'unknown.yaml'], /"prot" is unknown\.$/],
    [['--config', 'list.yaml'], /must contain settings/],
    [['--config', 'applications.yaml'], /"applications" must be a list\.$/],
    [['--config', 'servers.yaml'], /"resourceServers\[0\]" must be an object\.$/],

    [['--storage', 'memory', '--secret-hash-keys-file', 'short.keys'], /32 or more/],
  ])('is reported without secrets: %j', async (args, message) => {
    const files = folder()
    const inFolder = args.map((arg) => (/\.(yaml|keys)$/.test(arg) ? join(files, arg) : arg))
    const start = async () => {
      const commandLine = await parseCommandLine(['node', 'tokenwell-service', '--port', '0', ...inFolder])
      if ('configuration' in commandLine) await runService(commandLine, () => {})
    }
    const error: unknown = await start().catch((error: unknown) => error)
    expect(error).toBeInstanceOf(UsageError)
    expect((error as UsageError).message).toMatch(message)
    expect(String(error)).not.toContain('canary')
  })
})

it('reads the storage and the administrator token from files', async () => {
  const folder = temporaryFolder({ storage: 'memory\n', token: `${'4'.repeat(32)}\n` })
  const flags = ['--storage-file', join(folder, 'storage'), '--admin-token-file', join(folder, 'token')]
  expect(await configurationOf(...flags)).toMatchObject({
    storage: { kind: 'memory' },
    adminToken: '4'.repeat(32),
  })
})

it.each(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])(
  'accepts the log level %s',
  async (level) => {
    expect((await configurationOf('--log-level', level))['logLevel']).toBe(level)
  },
)

it('that was removed is an error that says what to do, as flag, variable and in the file', async () => {
  const removed = /"webhookAllowedHosts" .*was removed with the webhook\. Remove it; alert on the metrics/
  await expect(configurationOf('--webhook-allowed-hosts', 'a')).rejects.toThrow(removed)
  vi.stubEnv('TOKENWELL_WEBHOOK_ALLOWED_HOSTS', 'a')
  await expect(configurationOf()).rejects.toThrow(removed)
  vi.unstubAllEnvs()
  const file = join(temporaryFolder({ 'c.json': '{"webhookAllowedHosts":[]}' }), 'c.json')
  await expect(configurationOf('--config', file)).rejects.toThrow(removed)
})
