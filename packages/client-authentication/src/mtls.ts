import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import type { ClientAuthentication, FetchLike } from '@tokenwell/core'
import { configurationError } from '@tokenwell/core/protocol'
import { Agent, fetch as undiciFetch } from 'undici'
import { explainPem } from './signing-key.ts'
import { addSentences } from './explain-rejection.ts'

export interface MutualTlsOptions {
  /** The client certificate as PEM. A function is called for each request, so that the certificate can be replaced. */
  readonly cert: string | (() => string)
  /** Its private key as PEM. */
  readonly key: string | (() => string)
  /** Certificate authorities to trust. @default those of Node */
  readonly ca?: string | readonly string[] | undefined
}

/** Options of `clientCredentials`; its `fetch` can also call APIs that require the certificate. */
export interface MutualTls {
  readonly clientAuthentication: ClientAuthentication
  readonly fetch: FetchLike
  /** Closes idle connections. */
  readonly close: () => Promise<void>
}

/** The connections that use one pair of certificate and key. */
interface Connections {
  readonly pair: string
  readonly thumbprint: string
  readonly agent: Agent
  /** Requests that have no response yet: undici would reject them if the agent were closed. */
  waiting: number
  /** Set once another pair has replaced this one. */
  close: (() => void) | undefined
}

/**
 * Authenticates with a client certificate (RFC 8705, section 2). Node only; requires the package `undici`.
 *
 * Certificate and key may be replaced one after the other: the former pair is used until the new one is complete.
 *
 * @example
 * clientCredentials({ tokenEndpoint, clientId, ...mutualTls({ cert, key }) })
 */
export function mutualTls({ cert, key, ca }: MutualTlsOptions): MutualTls {
  let current: Connections | undefined
  /** Why the former pair is still in use. */
  let problem: string | undefined

  function load(): Connections {
    const pem = {
      cert: typeof cert === 'function' ? cert() : cert,
      key: typeof key === 'function' ? key() : key,
    }
    const pair = createHash('sha256').update(`${pem.cert}\0${pem.key}`).digest('base64url')
    if (current?.pair === pair) {
      problem = undefined
      return current
    }
    try {
      const thumbprint = checkPair(pem)
      const agent = new Agent({ connect: { ...pem, ...(ca && { ca: [ca].flat() }) } })
      const former = current
      current = { pair, thumbprint, agent, waiting: 0, close: undefined }
      if (former) void closeWhenIdle(former)
      problem = undefined
      return current
    } catch (error) {
      if (current === undefined) throw error
      problem = (error as Error).message
      return current
    }
  }

  return {
    clientAuthentication: {
      usesCertificate: true,
      authenticate: ({ clientId, body }) => body.set('client_id', clientId),
      // A token may be bound to the certificate.
      fingerprint: () => `tls ${load().thumbprint}`,
      // Another key may belong to the same certificate.
      revision: () => load().pair,
      explain: (error) =>
        addSentences(error, problem && `The former certificate is still in use: ${problem}`),
    },
    async fetch(input, init) {
      const connections = load()
      connections.waiting++
      try {
        const options = { ...init, dispatcher: connections.agent }
        return await undiciFetch(input, options as never)
      } finally {
        connections.waiting--
        if (connections.waiting === 0) connections.close?.()
      }
    },
    async close() {
      const open = current
      // A later request opens new connections.
      current = undefined
      if (open) await closeWhenIdle(open)
    },
  }
}

async function closeWhenIdle(connections: Connections): Promise<void> {
  if (connections.waiting > 0) await new Promise<void>((resolve) => (connections.close = resolve))
  await connections.agent.close()
}

/** @returns the thumbprint of the certificate. @throws {TokenError} of kind `configuration`, which quotes neither part */
function checkPair({ cert, key }: { cert: string; key: string }): string {
  const certificate = readPart('cert', cert, () => new X509Certificate(cert))
  const privateKey = readPart('key', key, () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey)) {
    throw configurationError(
      'key does not belong to cert. If the files are being replaced, the next request uses the new pair.',
    )
  }
  return certificate.fingerprint256
}

function readPart<Part>(option: 'cert' | 'key', pem: string, read: () => Part): Part {
  try {
    return read()
  } catch {
    const [kind, label] = option === 'cert' ? ['certificate', 'CERTIFICATE'] : ['private key', 'PRIVATE KEY']
    throw configurationError(
      `${option} is not a PEM ${kind}, which starts with -----BEGIN ${label}-----. ${explainPem(pem) ?? 'Pass its text, not its path.'}`,
    )
  }
}
