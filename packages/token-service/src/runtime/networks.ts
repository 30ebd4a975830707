import ipaddr from 'ipaddr.js'

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
