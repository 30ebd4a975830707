import ipaddr from 'ipaddr.js'

/** The address under which failures are counted: for IPv6, its /64 network, because one host owns all of it. */
export function networkAddress(ip: string): string {
  return networks(ip)[0] ?? ip
}

/** For IPv6 also the larger networks that one customer of a provider may own: from /64 to /48. */
export function networks(ip: string): string[] {
  if (!ipaddr.isValid(ip)) return [ip]
  const address = ipaddr.process(ip)
  if (!(address instanceof ipaddr.IPv6)) return [address.toString()]
  delete address.zoneId
  return [64, 56, 48].map((bits) => {
    const network = ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${bits}`)
    return `${network.toString()}/${bits}`
  })
}
