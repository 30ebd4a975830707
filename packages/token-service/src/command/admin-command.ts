import { defaultLifetimeSeconds } from '../clients/application-options.ts'
import { readText } from './configuration.ts'
import type { AdminRequest } from './send-admin-request.ts'
import { webhookOperations } from '../features/webhook/admin.ts'
import { addOperationCommands } from './operation-command.ts'
import type { Command } from 'commander'
import { UsageError } from '../runtime/usage-error.ts'

const application = (clientId: string, rest = '') => `/applications/${encodeURIComponent(clientId)}${rest}`
const developer = (name: string, rest = '') => `/developers/${encodeURIComponent(name)}${rest}`

const clientKinds = [
  { path: '/applications', suffix: '', client: 'an application' },
  { path: '/resource-servers', suffix: '-of-resource-server', client: 'a resource server' },
]

export function addAdminCommands(admin: Command, choose: (request: AdminRequest) => void): void {
  admin.addHelpText(
    'after',
    `
TOKENWELL_ADMIN_URL         URL of the listener for administrators
                            (default: adminHost and adminPort in the file of
                            --config, or http://127.0.0.1:8081)
TOKENWELL_ADMIN_TOKEN       administrator token
TOKENWELL_ADMIN_TOKEN_FILE  file that contains it
                            (default: adminTokenFile in the file of --config)`,
  )
  const get = (name: string, path: string, description: string) =>
    admin
      .command(name)
      .description(description)
      .action(() => choose({ method: 'GET', path }))
  admin.commandsGroup('Applications:')
  get('projects', '/projects', 'Lists the projects.')
  admin
    .command('create-project <name>')
    .description('Creates a project for applications.')
    .option('--organization <name>', 'organisation that token responses name')
    .option('--email <address>', 'email address that token responses name')
    .action((name: string, { organization, email }: { organization?: string; email?: string }) =>
      choose({
        method: 'POST',
        path: '/projects',
        body: { name, organizationName: organization, developerEmail: email },
      }),
    )
  get('applications', '/applications', 'Lists the applications.')
  admin
    .command('application <client-id>')
    .description('Shows an application.')
    .action((clientId: string) => choose({ method: 'GET', path: application(clientId) }))
  admin
    .command('create-application <name>')
    .description('Creates an approved application and prints its secret.')
    .requiredOption('--project-id <id>', 'ID of its project, as `admin projects` lists it')
    .option('--products <names...>', 'API products of the application', [])
    .option('--scopes <names...>', 'scopes of the application', [])
    .option('--lifetime-seconds <number>', 'lifetime of its tokens', Number, defaultLifetimeSeconds)
    .option('--token-format <format>', 'opaque, or jwt with --audiences', 'opaque')
    .option('--audiences <names...>', 'APIs that its JWTs are for', [])
    .action((name: string, options: Record<string, unknown>) =>
      choose({ method: 'POST', path: '/applications', body: { name, ...options } }),
    )
  admin
    .command('change-tokens <client-id>')
    .description('Changes the tokens that an application gets from now on.')
    .option('--token-format <format>', 'opaque or jwt')
    .option('--audiences <names...>', 'APIs that its JWTs are for')
    .option('--claims <json>', 'further claims of its JWTs, such as \'{"tenant":"a"}\'')
    .action((clientId: string, { claims, ...options }: Record<string, unknown>) =>
      choose({
        method: 'PATCH',
        path: application(clientId),
        body: { ...options, ...(typeof claims === 'string' && { claims: parseClaims(claims) }) },
      }),
    )
  for (const [decision, description] of [
    ['approve', 'Approves an application, or the changes requested for it.'],
    ['revoke', 'Revokes an application and its tokens.'],
    ['revoke-tokens', 'Revokes all tokens of an application.'],
  ] as const) {
    admin
      .command(`${decision} <client-id>`)
      .description(description)
      .action((clientId: string) => choose({ method: 'POST', path: application(clientId, `/${decision}`) }))
  }
  admin
    .command('decline <client-id>')
    .description('Declines a new application, or the changes requested for one.')
    .option('--reason <text>', 'what the owner of the application is told')
    .action((clientId: string, { reason }: { reason?: string }) =>
      choose({ method: 'POST', path: application(clientId, '/decline'), body: { reason } }),
    )
  admin.commandsGroup('Resource servers:')
  get('resource-servers', '/resource-servers', 'Lists the APIs that may introspect tokens.')
  admin
    .command('create-resource-server <name>')
    .description('Creates a resource server and prints its secret.')
    .action((name: string) => choose({ method: 'POST', path: '/resource-servers', body: { name } }))
  admin
    .command('rename-resource-server <client-id> <name>')
    .description('Renames a resource server.')
    .action((clientId: string, name: string) =>
      choose({ method: 'PATCH', path: `/resource-servers/${encodeURIComponent(clientId)}`, body: { name } }),
    )
  admin
    .command('remove-resource-server <client-id>')
    .description('Removes a resource server. One from the configuration is created again at the next start.')
    .action((clientId: string) =>
      choose({ method: 'DELETE', path: `/resource-servers/${encodeURIComponent(clientId)}` }),
    )
  for (const { path, suffix, client } of clientKinds) {
    admin.commandsGroup(suffix ? 'Resource servers:' : 'Applications:')
    const pathOf = (clientId: string, ...rest: string[]) =>
      [path, ...[clientId, ...rest].map(encodeURIComponent)].join('/')
    admin
      .command(`rotate-secret${suffix} <client-id>`)
      .description(`Creates a new secret for ${client} and prints it.`)
      .option('--overlap-seconds <number>', 'how long the existing secrets stay valid', Number, 86_400)
      .action((clientId: string, { overlapSeconds }: Record<string, unknown>) =>
        choose({ method: 'POST', path: pathOf(clientId, 'secrets'), body: { overlapSeconds } }),
      )
    admin
      .command(`revoke-secret${suffix} <client-id> <secret-id>`)
      .description(
        `Revokes a secret of ${client}${suffix ? '' : ', and the tokens that were obtained with it'}.`,
      )
      .action((clientId: string, id: string) =>
        choose({ method: 'DELETE', path: pathOf(clientId, 'secrets', id) }),
      )
    admin
      .command(`add-key${suffix} <client-id> <key>`)
      .description(
        `Registers a public key of ${client}: a file (PEM, JWK or JWK set), or the https URL of a JWK set.`,
      )
      .option('--name <name>', 'name of the key (default: the ID in the key, its thumbprint, or the URL)')
      .action((clientId: string, source: string, { name }: Record<string, unknown>) => {
        const key = /^https?:/i.test(source) ? source : readText(source)
        choose({ method: 'POST', path: pathOf(clientId, 'keys'), body: { key, name } })
      })
    admin
      .command(`rename-key${suffix} <client-id> <key-id> <name>`)
      .description(`Renames a public key of ${client}.`)
      .action((clientId: string, id: string, name: string) =>
        choose({ method: 'PATCH', path: pathOf(clientId, 'keys', id), body: { name } }),
      )
    admin
      .command(`remove-key${suffix} <client-id> <key-id>`)
      .description(
        `Removes a public key of ${client}${suffix ? '' : ', and revokes the tokens that were obtained with it'}.`,
      )
      .action((clientId: string, id: string) =>
        choose({ method: 'DELETE', path: pathOf(clientId, 'keys', id) }),
      )
  }
  admin.commandsGroup('Applications:')
  admin
    .command('expiring-secrets')
    .description('Lists the secrets that expire next, of applications and resource servers.')
    .option('--days <number>', 'within how many days', '30')
    .action((query: Record<string, string>) =>
      choose({ method: 'GET', path: `/expiring-secrets?${new URLSearchParams(query)}` }),
    )
  admin.commandsGroup('Trusted issuers:')
  get('trusted-issuers', '/trusted-issuers', 'Lists the issuers whose JWTs are exchanged for tokens.')
  admin
    .command('add-trusted-issuer <file>')
    .description(
      'Trusts an issuer. The JSON file contains issuer, rules and, if needed, jwksUrl and audiences.',
    )
    .action((file: string) => choose({ method: 'POST', path: '/trusted-issuers', body: objectIn(file) }))
  admin
    .command('change-trusted-issuer <id> <file>')
    .description('Replaces what was chosen for an issuer.')
    .action((id: string, file: string) =>
      choose({ method: 'PUT', path: `/trusted-issuers/${encodeURIComponent(id)}`, body: objectIn(file) }),
    )
  admin
    .command('remove-trusted-issuer <id>')
    .description('Stops trusting an issuer, and revokes the tokens that were issued for its JWTs.')
    .action((id: string) => choose({ method: 'DELETE', path: `/trusted-issuers/${encodeURIComponent(id)}` }))
  addOperationCommands(admin, [webhookOperations], choose)
  admin.commandsGroup('Signing keys:')
  get('signing-keys', '/signing-keys', 'Lists the keys of JWT access tokens.')
  admin
    .command('rotate-signing-key')
    .description('Signs JWTs with the next key from now on. The present one stays published for the overlap.')
    .option(
      '--overlap-seconds <number>',
      'how long (default: a day, or the longest lifetime of JWTs)',
      Number,
    )
    .option('--emergency', 'replaces all keys without an overlap: APIs reject every JWT issued before')
    .action((rotation: Record<string, unknown>) =>
      choose({ method: 'POST', path: '/signing-keys/rotation', body: rotation }),
    )
  admin.commandsGroup('Products:')
  for (const [kind, noun, text] of [
    ['products', 'product', 'API product'],
    ['scopes', 'scope', 'scope'],
  ] as const) {
    const pathOf = (name: string) => `/${kind}/${encodeURIComponent(name)}`
    admin
      .command(kind)
      .description(`Lists the ${text}s.`)
      .action(() => choose({ method: 'GET', path: `/${kind}` }))
    admin
      .command(`add-${noun} <name>`)
      .description(`Adds ${noun === 'scope' ? 'a' : 'an'} ${text}.`)
      .action((name: string) => choose({ method: 'PUT', path: pathOf(name) }))
    admin
      .command(`remove-${noun} <name>`)
      .description(`Removes ${noun === 'scope' ? 'a' : 'an'} ${text}.`)
      .action((name: string) => choose({ method: 'DELETE', path: pathOf(name) }))
  }
  admin.commandsGroup('People:')
  get('developers', '/developers', 'Lists the developers of the portal.')
  admin
    .command('invite')
    .description('Creates an invitation link for a developer.')
    .action(() => choose({ method: 'POST', path: '/invitations' }))
  get('invitations', '/invitations', 'Lists the invitations that nobody has accepted.')
  admin
    .command('withdraw-invitation <id>')
    .description('Withdraws an invitation.')
    .action((id: string) => choose({ method: 'DELETE', path: `/invitations/${encodeURIComponent(id)}` }))
  for (const [change, description] of [
    ['password-link', 'Creates a link to set a new password for a developer, or to log in without one.'],
    ['promote', 'Makes a developer an administrator.'],
    ['demote', 'Makes an administrator a developer again.'],
  ] as const) {
    admin
      .command(`${change} <name>`)
      .description(description)
      .action((name: string) => choose({ method: 'POST', path: developer(name, `/${change}`) }))
  }
  admin
    .command('remove-developer <name>')
    .description('Removes a developer. Their projects remain.')
    .action((name: string) => choose({ method: 'DELETE', path: developer(name) }))
  admin.commandsGroup('Audit log:')
  admin
    .command('audit')
    .description('Prints the audit log as JSON lines, newest first.')
    .option('--limit <number>', 'maximum number of entries', '1000')
    .option('--since <time>', 'only entries from this time on, such as 2026-01-31T00:00:00Z')
    .option('--until <time>', 'only entries before this time')
    .option('--client-id <client-id>', 'only entries about this client')
    .option('--event <event>', 'only entries with this event, such as secret_rotated')
    .action((filter: Record<string, string>) =>
      choose({ method: 'GET', path: `/audit?${new URLSearchParams(filter)}` }),
    )
  admin
    .command('verify-audit')
    .description(
      'Checks that no entry of the audit log was removed, changed or added. Prints a checkpoint: keep it outside the database.',
    )
    .option(
      '--checkpoint <file>',
      'what an earlier verification printed: all that it covers must still be there',
    )
    .action(({ checkpoint: file }: { checkpoint?: string }) =>
      choose({
        method: 'POST',
        path: '/audit/verification',
        body: file === undefined ? {} : { checkpoint: checkpointIn(file) },
      }),
    )
  admin
    .command('confirm-clock')
    .description('Confirms the clock, if nothing is deleted because it is ahead of the last purge.')
    .action(() => choose({ method: 'POST', path: '/clock/confirmation' }))
}

function parseClaims(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError('--claims is not valid JSON.')
  }
}

function objectIn(file: string): Record<string, unknown> {
  const text = readText(file)
  try {
    const value = JSON.parse(text) as unknown
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // Reported below.
  }
  throw new UsageError(`${file} does not contain a JSON object.`)
}

function checkpointIn(file: string): unknown {
  try {
    return (JSON.parse(readText(file)) as { checkpoint?: unknown }).checkpoint
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${file} is not what an earlier verification printed.`)
  }
}
