import { isSecureUrl } from '../configuration/option-values.ts'
import type { Connection } from '../configuration/resolve-connection.ts'
import { findingsOf, type Finding } from './finding.ts'

const address = findingsOf('address')
const platformPath = '/oauth/client_credential/accesstoken'

/** Checks the URL of the token endpoint before anything is sent. */
export function checkAddress(connection: Connection, url: URL): Finding[] {
  const plainHttp = checkPlainHttp(connection, url)
  return [...checkPath(connection, url), ...(plainHttp ? [plainHttp] : [])]
}

/** The platform expects grant_type in the query, which `--token-endpoint` does not send. */
function checkPath({ authUrl, origins }: Connection, { origin, pathname }: URL): Finding[] {
  const [base, repeated] = pathname.split(platformPath)
  if (repeated === undefined) return []
  if (authUrl === undefined) {
    return [
      address.warning(
        'platform_path',
        `${origins['tokenEndpoint']} contains the platform's path, ${platformPath}.`,
        `Pass --auth-url ${origin}${base} instead: the platform expects grant_type in the query.`,
      ),
    ]
  }
  if (pathname.indexOf(platformPath) === pathname.lastIndexOf(platformPath)) return []
  return [
    address.warning(
      'platform_path_repeated',
      `${origins['authUrl']} already contains the path ${platformPath}.`,
      `Set it to ${origin}${base}, because the path is appended.`,
    ),
  ]
}

function checkPlainHttp({ allowInsecureRequests }: Connection, url: URL): Finding | undefined {
  if (url.protocol !== 'http:') return undefined
  if (isSecureUrl(url)) return address.note('plain_http_loopback', 'Plain HTTP, on this machine only.')
  const message = `Plain HTTP to ${url.host}: others on the network can read the secret and the token.`
  const advice = 'Use https:// in the URL. Inside a trusted network, pass --allow-insecure.'
  return allowInsecureRequests
    ? address.warning('plain_http', message, advice)
    : address.problem('plain_http', `${message} No request was sent.`, advice)
}
