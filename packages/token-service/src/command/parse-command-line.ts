import { readFileSync } from 'node:fs'
import { Command, Help, Option } from 'commander'
import { adminEnvironment, readConfiguration, type Configuration } from './configuration.ts'
import { addAdminCommands } from './admin-command.ts'
import type { AdminRequest } from './send-admin-request.ts'
import { settingFlags } from './command-settings.ts'

export const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as {
  version: string
}

export interface StorageTask {
  readonly action: 'backup' | 'restore'
  readonly file: string
}

export interface CommandLine {
  readonly configuration: Configuration
  /** What to do with the database instead of starting the service. */
  readonly task?: StorageTask | undefined
  /** The developer whose password link is printed at start; a flag only. */
  readonly passwordLink?: string | undefined
}

export interface AdminCommandLine {
  readonly request: AdminRequest
  /** The variables that the request is sent with. */
  readonly environment: NodeJS.ProcessEnv
}

/** Reads the command line, the environment and the configuration file; exits on `--help`, and with 2 on unknown options. */
export async function parseCommandLine(args: readonly string[]): Promise<CommandLine | AdminCommandLine> {
  const command = new Command('tokenwell-service')
    .configureHelp({ showGlobalOptions: true })
    // An option of an administration command can have the name of a setting, such as --products.
    .enablePositionalOptions(args.slice(2).find((arg) => subcommands.includes(arg)) === 'admin')
    .configureOutput({ outputError: (text) => print(describeMistake(text, args)) })
    .exitOverride(({ exitCode }) => process.exit(exitCode && 2))
    .description('Issues OAuth 2.0 access tokens to applications (client credentials grant).')
    .addOption(configFlag)
    .version(version)
    .option(
      '--password-link <name>',
      'print a link for this developer of the portal to set a new password, or to log in without one',
    )
    .addHelpText('after', help)
    .action(() => {})
  for (const option of settingFlags()) command.addOption(option)

  let task: StorageTask | undefined
  let request: AdminRequest | undefined
  const admin = command
    .command('admin')
    .description('Administers a running service.')
    .configureHelp({ showGlobalOptions: false, padWidth: () => longestTerm, formatItem })
    .addOption(configFlag)
  addAdminCommands(admin, (given) => (request = given))
  command
    .command('backup <file>')
    .description('Writes a copy of the SQLite database to a new file, even while the service runs.')
    .action((file: string) => void (task = { action: 'backup', file }))
  command
    .command('restore <file>')
    .description(
      'Creates the database from a backup, while the service is stopped: another SQLite file, or PostgreSQL.',
    )
    .action((file: string) => void (task = { action: 'restore', file }))
  command.parse(args)
  const { config, passwordLink, ...given } = command.opts<Record<string, string | undefined>>()
  if (request) {
    const file = admin.opts<{ config?: string }>().config ?? config
    const environment = { ...(await adminEnvironment(file, given)), ...process.env }
    return { request, environment }
  }
  const {
    TOKENWELL_SECRET_HASH_KEYS: keys,
    TOKENWELL_ADMIN_TOKEN: adminToken,
    TOKENWELL_OPENID_CLIENT_SECRET: openidClientSecret,
  } = process.env
  const configuration = await readConfiguration(config, {
    ...given,
    secretHashKeys: keys?.split(',').map((key) => key.trim()),
    adminToken,
    openidClientSecret,
  })
  return { configuration, task, passwordLink }
}

/** In the form of all messages of this command: what is wrong, and after an arrow what to do. */
function describeMistake(text: string, args: readonly string[]): string {
  const [, what = '', hint] = /^error: (.+?)\s*(?:\((Did you mean .+?)\))?\s*$/s.exec(text) ?? [
    undefined,
    text.trim(),
  ]
  const isAdmin = args.includes('admin')
  const lists = isAdmin
    ? '`tokenwell-service admin --help` lists the commands, and `--help` after a command its options.'
    : '`tokenwell-service --help` lists the options and commands.'
  const sentence = what.charAt(0).toUpperCase() + what.slice(1)
  return `tokenwell-service: ${sentence}${sentence.endsWith('.') ? '' : '.'}\n→ ${hint ?? lists}`
}

/** Most terms of `admin` are shorter: the descriptions of the others start on the next line. */
const longestTerm = 32

/** As commander formats an item, which it does not wrap beside a long term. */
function formatItem(term: string, termWidth: number, description: string, helper: Help): string {
  const indent = ' '.repeat(termWidth + 4)
  const width = Math.max((helper.helpWidth ?? 80) - indent.length, 30)
  const lines = helper.boxWrap(description, width).replaceAll('\n', `\n${indent}`)
  const isLong = helper.displayWidth(term) > termWidth
  return isLong ? `  ${term}\n${indent}${lines}` : `  ${term.padEnd(termWidth)}  ${lines}`
}

const subcommands = ['admin', 'backup', 'restore']
const configFlag = new Option('--config <file>', 'YAML or JSON file with settings').env('TOKENWELL_CONFIG')

const help = `
Precedence: flags, environment, configuration file, defaults.
The file can contain the same settings in camelCase (port, storage,
secretHashKeysFile, …), applications, resourceServers and trustedIssuers
themselves, and openidProvider, through which people log in to the portal; its
client secret can be in TOKENWELL_OPENID_CLIENT_SECRET.`

/** Prints a message to standard error. On a terminal, its lines are broken between words. */
export function print(text: string): void {
  const { stderr } = process
  const wrapped = stderr.isTTY ? new Help().boxWrap(text, Math.min(stderr.columns || 80, 100)) : text
  stderr.write(`${wrapped}\n`)
}
