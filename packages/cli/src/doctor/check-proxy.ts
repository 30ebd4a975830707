import { findingsOf, type Finding } from './finding.ts'
import { portOf } from './probe.ts'

const network = findingsOf('network')
/** Since Node 22.21 and 24.5. */
const nodeReadsProxies = process.allowedNodeEnvironmentFlags.has('--use-env-proxy')
/** For `example.com` in `NO_PROXY`; before, only for `.example.com` and `*.example.com`. */
const nodeExemptsSubdomains =
  (process.versions['undici'] ?? '').localeCompare('7.22', 'en', { numeric: true }) >= 0

export interface CheckedProxy {
  /** The variable with the proxy that is used. */
  readonly used?: string | undefined
  readonly finding?: Finding
}

/** Reports a proxy that the environment names: Node uses it only when told to. */
export function checkProxy(url: URL, env: NodeJS.ProcessEnv): CheckedProxy {
  const name = proxyVariable(url, env)
  if (name === undefined || isExempt(url, env['no_proxy'] ?? env['NO_PROXY'])) {
    return {}
  }
  const isEnabled = env['NODE_USE_ENV_PROXY'] === '1' || /--use-env-proxy/.test(env['NODE_OPTIONS'] ?? '')
  if (isEnabled && nodeReadsProxies) {
    return {
      used: name,
      finding: network.note(
        'through_proxy',
        `Requests use the proxy set in ${name}. The network and the certificate were not checked separately.`,
      ),
    }
  }
  return {
    finding: network.note(
      'proxy_ignored',
      `${name} is set, but Node does not use it.`,
      `If this machine can reach the service only through the proxy, ${nodeReadsProxies ? '' : 'install Node 24, and '}set NODE_USE_ENV_PROXY=1.`,
    ),
  }
}

/** Node prefers lower case, even if it is empty, and falls back to the proxy for HTTP. */
function proxyVariable({ protocol }: URL, env: NodeJS.ProcessEnv): string | undefined {
  const schemes = protocol === 'https:' ? ['https_proxy', 'http_proxy'] : ['http_proxy']
  return schemes
    .map((name) => (env[name] === undefined ? name.toUpperCase() : name))
    .find((name) => env[name])
}

/** As Node reads it: `host:port` applies to that port alone. */
function isExempt(url: URL, list = ''): boolean {
  if (list === '*') return true
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      const [, name = '', port = portOf(url)] = /^(.*?)(?::(\d+))?$/.exec(entry)!
      return Number(port) === portOf(url) && includes(name, url.hostname)
    })
}

function includes(name: string, hostname: string): boolean {
  if (nodeExemptsSubdomains) return `.${hostname}`.endsWith(`.${name.replace(/^\*?\./, '')}`)
  return /^[.*]/.test(name) ? hostname.endsWith(name.replace('*', '')) : hostname === name
}
