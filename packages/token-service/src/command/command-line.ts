import { readFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { readConfiguration, type Configuration } from './configuration.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** What the command is to do. */
export interface CommandLine {
  readonly configuration: Configuration
  /** Whose password is to be set anew; asked for at one start, never by a file. */
  readonly passwordLink?: string | undefined
}

/** Reads the command line, the environment and the configuration file; `--help` and mistakes end the process. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const command = new Command('tokenwell-service')
    .description('Issues OAuth 2.0 access tokens to applications (client credentials grant).')
    .version(version)
    .addOption(setting('--config <file>', 'TOKENWELL_CONFIG', 'YAML or JSON file with settings'))
    .addOption(
      setting('--port <number>', 'TOKENWELL_PORT', 'port to listen on; 0: a free one (default: 8080)'),
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
      setting(
        '--keys-file <file>',
        'TOKENWELL_KEYS_FILE',
        'keys that secrets are hashed under, one a line, the newest first; or set TOKENWELL_KEYS, comma-separated',
      ),
    )
    .addOption(
      setting('--errors <shape>', 'TOKENWELL_ERRORS', 'shape of errors: classic, rfc6749 (default: classic)'),
    )
    .addOption(
      setting(
        '--applications-file <file>',
        'TOKENWELL_APPLICATIONS_FILE',
        'applications to create if absent',
      ),
    )
    .addOption(setting('--public-url <url>', 'TOKENWELL_PUBLIC_URL', 'what clients reach the service by'))
    .addOption(
      setting(
        '--trust-proxy <addresses>',
        'TOKENWELL_TRUST_PROXY',
        'proxies to believe about client addresses',
      ),
    )
    .addOption(
      setting('--log-level <level>', 'TOKENWELL_LOG_LEVEL', 'trace to fatal, or silent (default: info)'),
    )
    .addOption(
      setting(
        '--sandbox [port]',
        'TOKENWELL_SANDBOX',
        'for tests: a control listener on loopback (faults, clock, journal)',
      ),
    )
    .option(
      '--password-link <name>',
      'at start, say a link by which that developer of the portal sets a new password',
    )
    .addHelpText('after', help)
    .parse(args)

  const { config, passwordLink, ...given } = command.opts<Record<string, string | undefined>>()
  const keys = process.env['TOKENWELL_KEYS']?.split(',').map((key) => key.trim())
  const configuration = readConfiguration(config, {
    ...given,
    keys,
    sandbox: yesOrNo(given['sandbox']),
    trustProxy: yesOrNo(given['trustProxy']),
  })
  return { configuration, passwordLink }
}

function yesOrNo(value: string | boolean | undefined): string | boolean | undefined {
  return value === 'true' || (value === 'false' ? false : value)
}

const help = `
Flags outweigh the environment, the environment the file, the file the defaults.
The file has the same settings in camelCase (port, storage, keysFile, …), and also
resourceServers, failureLimit, metrics and applications.`

function setting(flags: string, variable: string, description: string): Option {
  return new Option(flags, description).env(variable)
}
