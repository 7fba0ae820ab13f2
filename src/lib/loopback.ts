// Loopback host names and addresses. Sources: RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3.
import { BlockList, isIP } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** @param host name or address, IPv6 without brackets; names other than localhost are not resolved */
export const isLoopbackHost = (host: string): boolean => {
  const family = isIP(host)
  if (family === 0) return host.toLowerCase() === 'localhost'
  return LOOPBACK.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
