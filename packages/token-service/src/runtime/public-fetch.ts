import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { request } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { allowedRanges, isInRange, isPublic } from './ip-addresses.ts'

export interface PublicFetchOptions {
  /** Hosts, addresses and CIDR ranges that are allowed although they are internal. */
  readonly allowedHosts: readonly string[]
  /** The name of the setting with them. */
  readonly setting: string
  /** @default the system's resolver */
  readonly lookup?:
    | ((
        host: string,
        options: LookupOptions & { all: true },
        callback: (error: Error | null, addresses: LookupAddress[]) => void,
      ) => void)
    | undefined
  /** A certificate authority to trust. */
  readonly ca?: string | undefined
}

/** Responses with these statuses have no body, and `Response` rejects one. */
const emptyStatuses = new Set([204, 205])

export interface PublicRequest {
  /** Sent as JSON with POST. @default none, and GET */
  readonly body?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | null | undefined
}

/** Why a request failed. The error for a host with several addresses has a code, but no message. */
export function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  return message || code || 'unknown reason'
}

/** Rejects unless the response is a success. */
export type PublicFetch = (url: string, request: PublicRequest) => Promise<Response>

/**
 * Sends requests to public addresses only: people choose the URLs, and must not reach the network of the service through
 * it. The address is checked when it is connected to, so that a second resolution cannot change it. Redirects are not
 * followed.
 */
export function createPublicFetch({
  allowedHosts,
  setting,
  lookup = systemLookup,
  ca,
}: PublicFetchOptions): PublicFetch {
  const ranges = allowedRanges(allowedHosts, setting)

  function internal(host: string, addresses: readonly string[]): Error | undefined {
    if (allowedHosts.includes(host)) return undefined
    const found = addresses.find((address) => !isPublic(address) && !isInRange(address, ranges))
    return found === undefined
      ? undefined
      : new Error(`${host} has the internal address ${found}. Add the host to ${setting} if it is trusted.`)
  }

  const publicLookup: LookupFunction = (host, options, callback) =>
    lookup(host, { ...options, all: true }, (error, addresses) => {
      const rejected =
        error ??
        internal(
          host,
          addresses.map(({ address }) => address),
        )
      if (rejected) return callback(rejected, [])
      const [first] = addresses
      if (options.all) callback(null, addresses)
      else callback(null, first?.address ?? '', first?.family)
    })

  return (url, { body: sent, headers, signal }) =>
    new Promise((resolve, reject) => {
      const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
      // Addresses are not looked up.
      const rejected = isIP(host) === 0 ? undefined : internal(host, [host])
      if (rejected) return reject(rejected)
      request(url, {
        agent: false,
        lookup: publicLookup,
        method: sent === undefined ? 'GET' : 'POST',
        headers: {
          accept: 'application/json',
          ...(sent !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(ca && { ca }),
        ...(signal && { signal }),
      })
        .on('response', (response) => {
          const { statusCode: status = 0 } = response
          if (status >= 200 && status < 300) {
            if (!emptyStatuses.has(status))
              return resolve(new Response(Readable.toWeb(response) as ReadableStream, { status }))
            response.resume()
            return resolve(new Response(undefined, { status }))
          }
          response.destroy()
          reject(new Error(`${host} responded with status ${status}`))
        })
        .on('error', reject)
        .end(sent)
    })
}
