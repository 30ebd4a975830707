import ipaddr from 'ipaddr.js'
import { UsageError } from '../platform/usage-error.ts'

const namedRanges = ['loopback', 'linklocal', 'uniquelocal']

/**
 * Which proxies are trusted about client addresses: `true` (all), a number of hops, or a comma-separated list of
 * addresses, CIDR ranges and the names `loopback`, `linklocal` and `uniquelocal`.
 *
 * @throws {@link UsageError} if it is none of these
 */
export function parseTrustProxy(value: boolean | number | string): boolean | number | string[] {
  if (typeof value === 'boolean') return value
  const text = String(value).trim()
  if (text === 'true' || text === 'false') return text === 'true'
  if (/^\d{1,3}$/.test(text)) return Number(text)
  const ranges = text.split(',').map((range) => range.trim())
  const invalid = ranges.find(
    (range) => !namedRanges.includes(range) && !isFullAddress(range) && !ipaddr.isValidCIDR(range),
  )
  if (invalid === undefined) return ranges
  throw new UsageError(
    `trustProxy contains "${invalid}". Use a number of hops, addresses, CIDR ranges, loopback, linklocal or uniquelocal.`,
  )
}

/** Not a short form, such as `10` for 0.0.0.10. */
function isFullAddress(range: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(range) || ipaddr.IPv6.isValid(range)
}
