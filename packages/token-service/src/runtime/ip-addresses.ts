import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { UsageError } from './usage-error.ts'

export type Range = ReturnType<typeof ipaddr.parseCIDR>

/** @throws {@link UsageError} if a range is invalid */
export function allowedRanges(hosts: readonly string[], setting: string): Range[] {
  return hosts.flatMap((host) => {
    const { isValidCIDR, parseCIDR } = ipaddr
    if (isValidCIDR(host)) return [parseCIDR(host)]
    if (isIP(host) > 0) return [parseCIDR(`${host}/${isIP(host) === 4 ? 32 : 128}`)]
    if (/^[\w.-]+$/.test(host)) return []
    throw new UsageError(
      `${setting} contains the invalid value "${host}". Use host names, addresses and CIDR ranges.`,
    )
  })
}

/** Addresses in public ranges that only machines in a cloud reach, and that serve their secrets: Azure's wire server. */
const internalHosts: ReadonlySet<string> = new Set(['168.63.129.16'])

export function isPublic(address: string): boolean {
  const parsed = ipaddr.process(address)
  return parsed.range() === 'unicast' && !internalHosts.has(parsed.toString())
}

export function isInRange(address: string, ranges: readonly Range[]): boolean {
  const parsed = ipaddr.process(address)
  return ranges.some((range) => range[0].kind() === parsed.kind() && parsed.match(range))
}

/** The network that an address is counted under: for IPv6, its /64, because one host owns all of it. */
export function networkOf(ip: string): string {
  return networks(ip)[0] ?? ip
}

/** The networks of an address: the address itself, or for IPv6 its /64, and the /48 that one customer of a provider may own. */
export function networks(ip: string): string[] {
  if (!ipaddr.isValid(ip)) return [ip]
  const address = ipaddr.process(ip)
  if (!(address instanceof ipaddr.IPv6)) return [address.toString()]
  delete address.zoneId
  return [64, 48].map((bits) => {
    const network = ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${bits}`)
    return `${network.toString()}/${bits}`
  })
}
