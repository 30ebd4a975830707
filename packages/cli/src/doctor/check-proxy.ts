import { findingsOf, type Finding } from './finding.ts'

const network = findingsOf('network')

/** Reports a proxy that the environment names: Node uses it only when told to. */
export function checkProxy(url: URL, env: NodeJS.ProcessEnv): { used: boolean; finding?: Finding } {
  const upperCase = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const name = [upperCase, upperCase.toLowerCase()].find((each) => env[each])
  if (name === undefined || isExempt(url, env['NO_PROXY'] ?? env['no_proxy'])) {
    return { used: false }
  }
  if (env['NODE_USE_ENV_PROXY'] === '1' || /--use-env-proxy/.test(env['NODE_OPTIONS'] ?? '')) {
    return {
      used: true,
      finding: network.note(
        'through_proxy',
        `Requests use the proxy set in ${name}. The network and the certificate were not checked separately.`,
      ),
    }
  }
  return {
    used: false,
    finding: network.note(
      'proxy_ignored',
      `${name} is set, but Node does not use it.`,
      'If this machine can reach the service only through the proxy, set NODE_USE_ENV_PROXY=1.',
    ),
  }
}

function isExempt({ hostname }: URL, list = ''): boolean {
  return list
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => entry === '*' || `.${hostname}`.endsWith(`.${entry.replace(/^\*?\./, '')}`))
}
