import { readFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { readConfiguration, type Configuration } from './configuration.ts'
import { addAdminCommands, type AdminRequest } from './admin-command.ts'
import type { StorageTask } from './run-storage-task.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

export interface CommandLine {
  readonly configuration: Configuration
  /** What to do with the database instead of starting the service. */
  readonly task?: StorageTask | undefined
  /** The developer whose password link is printed at start; a flag only. */
  readonly passwordLink?: string | undefined
}

/** Reads the command line, the environment and the configuration file; exits on `--help` and on invalid options. */
export function parseCommandLine(args: readonly string[]): CommandLine | { readonly request: AdminRequest } {
  const command = new Command('tokenwell-service')
    .configureHelp({ showGlobalOptions: true })
    .description('Issues OAuth 2.0 access tokens to applications (client credentials grant).')
    .version(version)
    .addOption(setting('--config <file>', 'TOKENWELL_CONFIG', 'YAML or JSON file with settings'))
    .addOption(
      setting('--port <number>', 'TOKENWELL_PORT', 'port to listen on; 0: a free port (default: 8080)'),
    )
    .addOption(setting('--host <address>', 'TOKENWELL_HOST', 'address to listen on (default: 127.0.0.1)'))
    .addOption(
      setting(
        '--storage <where>',
        'TOKENWELL_STORAGE',
        'sqlite:FILE, a postgres:// URL, or memory (default: sqlite:tokenwell-data/tokenwell.db)',
      ),
    )
    .addOption(
      setting('--storage-file <file>', 'TOKENWELL_STORAGE_FILE', 'file that contains the value of --storage'),
    )
    .addOption(
      setting(
        '--keys-file <file>',
        'TOKENWELL_KEYS_FILE',
        'file with the keys that secrets are hashed under, one per line, the newest first; or TOKENWELL_KEYS, comma-separated',
      ),
    )
    .addOption(
      setting(
        '--errors <shape>',
        'TOKENWELL_ERRORS',
        'shape of error responses: classic or rfc6749 (default: classic)',
      ),
    )
    .addOption(
      setting(
        '--applications-file <file>',
        'TOKENWELL_APPLICATIONS_FILE',
        'applications to create if they do not exist',
      ),
    )
    .addOption(setting('--public-url <url>', 'TOKENWELL_PUBLIC_URL', 'the URL that clients use'))
    .addOption(
      setting(
        '--trust-proxy <addresses>',
        'TOKENWELL_TRUST_PROXY',
        'proxies to trust about client addresses: a number of hops, or addresses, CIDR ranges, loopback, linklocal, uniquelocal',
      ),
    )
    .addOption(
      setting(
        '--log-level <level>',
        'TOKENWELL_LOG_LEVEL',
        'trace, debug, info, warn, error, fatal or silent (default: info)',
      ),
    )
    .addOption(
      setting(
        '--drain-seconds <number>',
        'TOKENWELL_DRAIN_SECONDS',
        'on SIGTERM, how long to continue while /readyz responds with 503 (default: 0)',
      ),
    )
    .addOption(
      setting(
        '--admin-port <number>',
        'TOKENWELL_ADMIN_PORT',
        'port of a second listener for administrators and metrics; requires an administrator token',
      ),
    )
    .addOption(setting('--admin-host <address>', 'TOKENWELL_ADMIN_HOST', 'its address (default: 127.0.0.1)'))
    .addOption(
      setting(
        '--admin-token-file <file>',
        'TOKENWELL_ADMIN_TOKEN_FILE',
        'file with the administrator token; or TOKENWELL_ADMIN_TOKEN',
      ),
    )
    .addOption(
      setting(
        '--audit-retention-days <number>',
        'TOKENWELL_AUDIT_RETENTION_DAYS',
        'how long the audit log is kept (default: 365)',
      ),
    )
    .addOption(
      setting(
        '--sandbox [port]',
        'TOKENWELL_SANDBOX',
        'for tests: control endpoints on loopback (faults, clock, journal)',
      ),
    )
    .option(
      '--password-link <name>',
      'at start, print a link that sets a new password for this developer of the portal',
    )
    .addHelpText('after', help)
    .action(() => {})

  let task: StorageTask | undefined
  let request: AdminRequest | undefined
  addAdminCommands(
    command.command('admin').description('administers a running service'),
    (given) => (request = given),
  )
  command
    .command('backup <file>')
    .description('writes a copy of the SQLite database to a new file, also while the service runs')
    .action((file: string) => void (task = { action: 'backup', file }))
  command
    .command('restore <file>')
    .description('creates the SQLite database from a backup, while the service is stopped')
    .action((file: string) => void (task = { action: 'restore', file }))
  command.parse(args)
  if (request) return { request }

  const { config, passwordLink, ...given } = command.opts<Record<string, string | undefined>>()
  const keys = process.env['TOKENWELL_KEYS']?.split(',').map((key) => key.trim())
  const configuration = readConfiguration(config, {
    ...given,
    keys,
    adminToken: process.env['TOKENWELL_ADMIN_TOKEN'],
    sandbox: parseBoolean(given['sandbox']),
    trustProxy: parseBoolean(given['trustProxy']),
  })
  return { configuration, task, passwordLink }
}

function parseBoolean(value: string | boolean | undefined): string | boolean | undefined {
  return value === 'true' || (value === 'false' ? false : value)
}

const help = `
Precedence: flags, environment, configuration file, defaults.
The file contains the same settings in camelCase (port, storage, keysFile, …), and also
resourceServers, failureLimit, metrics and applications.`

function setting(flags: string, variable: string, description: string): Option {
  return new Option(flags, description).env(variable)
}
