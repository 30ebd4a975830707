import { X509Certificate } from 'node:crypto'
import type { ClientAuthentication, FetchLike } from '@tokenwell/core'
import { configurationError } from '@tokenwell/core/protocol'
import { Agent, fetch as undiciFetch } from 'undici'

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

/**
 * Authenticates with a client certificate (RFC 8705, section 2). Node only; requires the package `undici`.
 *
 * @example
 * clientCredentials({ tokenEndpoint, clientId, ...mutualTls({ cert, key }) })
 */
export function mutualTls({ cert, key, ca }: MutualTlsOptions): MutualTls {
  let current: { readonly cert: string; readonly thumbprint: string; readonly agent: Agent } | undefined
  const load = () => {
    const text = typeof cert === 'function' ? cert() : cert
    if (current?.cert === text) return current
    void current?.agent.close()
    const connect = {
      cert: text,
      key: typeof key === 'function' ? key() : key,
      ...(ca && { ca: [ca].flat() }),
    }
    current = { cert: text, thumbprint: thumbprintOf(text), agent: new Agent({ connect }) }
    return current
  }
  return {
    clientAuthentication: {
      usesCertificate: true,
      authenticate: ({ clientId, body }) => body.set('client_id', clientId),
      // A token may be bound to the certificate.
      fingerprint: () => `tls ${load().thumbprint}`,
    },
    fetch: async (input, init) => {
      const options = { ...init, dispatcher: load().agent }
      return (await undiciFetch(input as string, options as never)) as unknown as Response
    },
    close: async () => current?.agent.close(),
  }
}

function thumbprintOf(cert: string): string {
  try {
    return new X509Certificate(cert).fingerprint256
  } catch {
    throw configurationError(
      'cert is not a PEM certificate, which starts with -----BEGIN CERTIFICATE-----. Pass its text, not its path.',
    )
  }
}
