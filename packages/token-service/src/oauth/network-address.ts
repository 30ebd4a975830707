import ipaddr from 'ipaddr.js'

/** The address under which failures are counted: for IPv6, its /64 network, because one host owns all of it. */
export function networkAddress(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (!(address instanceof ipaddr.IPv6)) return address.toString()
  delete address.zoneId
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`
}
