import { Option } from 'commander'

/** Each setting as a flag, with its meaning. Its environment variable and its name in the file derive from the flag. */
const settings: readonly (readonly [flags: string, description: string])[] = [
  ['--config <file>', 'YAML or JSON file with settings'],
  ['--port <number>', 'port to listen on; 0 selects a free port (default: 8080)'],
  ['--host <address>', 'address to listen on (default: 127.0.0.1)'],
  [
    '--storage <where>',
    'where data is stored: sqlite:FILE, a postgres:// URL, or memory (default: sqlite:tokenwell-data/tokenwell.db)',
  ],
  ['--storage-file <file>', 'file that contains the value of --storage'],
  [
    '--keys-file <file>',
    'file with the keys that secrets are hashed with, one per line, newest first; or TOKENWELL_KEYS, comma-separated',
  ],
  ['--errors <format>', 'format of error responses: classic or rfc6749 (default: classic)'],
  ['--applications-file <file>', 'file with applications to create if they do not exist'],
  [
    '--resource-servers-file <file>',
    'file with APIs that may introspect tokens, to create if they do not exist',
  ],
  ['--products <names>', 'comma-separated API products to add to the catalogue (default: speech-to-text)'],
  [
    '--secret-overlap-seconds <number>',
    'how long the previous secret of a configured client stays valid (default: 86400)',
  ],
  [
    '--failure-attempts <number>',
    'failed attempts from one address for one client before further failures get status 429 (default: 10)',
  ],
  ['--failure-window-seconds <number>', 'period in which failed attempts are counted (default: 60)'],
  ['--public-url <url>', 'URL that clients use'],
  [
    '--trust-proxy <addresses>',
    'proxies that are trusted to report client addresses: the number of hops, or a comma-separated list of addresses, CIDR ranges and the names loopback, linklocal and uniquelocal',
  ],
  [
    '--cors-origins <origins>',
    'comma-separated origins whose pages may request tokens, or * (default: none)',
  ],
  [
    '--log-level <level>',
    'level of the log: trace, debug, info, warn, error, fatal or silent (default: info)',
  ],
  [
    '--drain-seconds <number>',
    'after SIGTERM, how long to keep serving requests while /readyz responds with status 503 (default: 0)',
  ],
  ['--metrics <boolean>', 'whether to serve /metrics (default: true; false with memory storage)'],
  [
    '--admin-port <number>',
    'port of a second listener for administrators and metrics; requires an administrator token',
  ],
  ['--admin-host <address>', 'address of the listener for administrators (default: 127.0.0.1)'],
  ['--admin-token-file <file>', 'file with the administrator token; or TOKENWELL_ADMIN_TOKEN'],
  ['--audit-retention-days <number>', 'how long the audit log is kept (default: 365)'],
  ['--usage-retention-days <number>', 'how long the usage data shown in the portal is kept (default: 365)'],
  [
    '--jwks-allowed-hosts <hosts>',
    'comma-separated hosts, addresses and CIDR ranges of internal networks that JWK set URLs may point to (default: none)',
  ],
  ['--sandbox [port]', 'for tests: control endpoints on loopback (faults, clock, journal)'],
]

export function settingOptions(): Option[] {
  return settings.map(([flags, description]) => {
    const option = new Option(flags, description)
    return option.env(`TOKENWELL_${option.name().replaceAll('-', '_').toUpperCase()}`)
  })
}
