import proxyAddress from '@fastify/proxy-addr'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { setting } from '../runtime/setting.ts'
import { UsageError } from '../runtime/usage-error.ts'

export type TrustProxy = boolean | number | string[]

const namedRanges = ['loopback', 'linklocal', 'uniquelocal']

/**
 * Which proxies are trusted to report client addresses: `true` (all), the number of hops, or a comma-separated list of
 * addresses, CIDR ranges and the names `loopback`, `linklocal` and `uniquelocal`.
 *
 * @throws {@link UsageError} if it is none of these
 */
export function parseTrustProxy(value: boolean | number | string): TrustProxy {
  if (typeof value === 'boolean') return value
  const text = String(value).trim()
  if (text === 'true' || text === 'false') return text === 'true'
  if (/^\d{1,3}$/.test(text)) return Number(text)
  const ranges = text.split(',').map((range) => range.trim())
  const invalid = ranges.find((range) => !namedRanges.includes(range) && !isRange(range))
  if (invalid === undefined) return ranges
  throw new UsageError(
    `trustProxy contains the invalid value "${invalid}". Use the number of hops, or a comma-separated list of addresses, CIDR ranges, loopback, linklocal and uniquelocal.`,
  )
}

/** The setting `trustProxy`. */
export const trustedProxies = setting(
  '<addresses>',
  'proxies that are trusted to report client addresses: the number of hops, or a comma-separated list of addresses, CIDR ranges and the names loopback, linklocal and uniquelocal',
  z
    .union(
      [z.boolean(), z.number(), z.string()],
      'must be true, false, the number of hops, or a comma-separated list of addresses',
    )
    .default(false)
    .transform(parseTrustProxy),
)

/** Whether the proxy with that address is trusted, which is so many hops away. */
export function trusts(trustProxy: TrustProxy): (address: string, hop: number) => boolean {
  if (typeof trustProxy === 'object') {
    return proxyAddress.compile(trustProxy)
  }
  return (_address, hop) => (typeof trustProxy === 'number' ? hop < trustProxy : trustProxy)
}

/** An address, but not in a short form, such as `10` for 0.0.0.10; or a CIDR range. */
function isRange(range: string): boolean {
  const { IPv4, IPv6, isValidCIDR } = ipaddr
  return IPv4.isValidFourPartDecimal(range) || IPv6.isValid(range) || isValidCIDR(range)
}
