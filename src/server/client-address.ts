// Client address: the connection's address or, behind trusted proxies, the rightmost untrusted address in
// X-Forwarded-For (threats rows 24 and 27; RFC 7239, section 8.1).
import { BlockList } from 'node:net'
import { parseIpAddress } from '../lib/ip-address.ts'

export interface Network {
  readonly address: string
  readonly prefix: number
}

/** Canonical form; empty if a trusted proxy names no client. */
export type ClientAddress = (peer: string, headers: Headers) => string

const HOPS_MAX = 32

const familyOf = (address: string): 'ipv4' | 'ipv6' => (address.includes(':') ? 'ipv6' : 'ipv4')

export const parseNetworks = (text: string): readonly Network[] =>
  (text.trim() === '' ? [] : text.split(',')).map((part) => {
    const [, host = '', digits] = /^([0-9a-f.:]+)(?:\/([0-9]{1,3}))?$/i.exec(part.trim()) ?? []
    const address = parseIpAddress(host.toLowerCase())
    const longest = address !== null && familyOf(address) === 'ipv6' ? 128 : 32
    const prefix = digits === undefined ? longest : Number(digits)
    if (address === null || prefix > longest) {
      throw new Error('must be a comma-separated list of networks or addresses, for example 10.0.0.0/8,fd00::/8')
    }
    return { address, prefix }
  })

export const createClientAddress = (trustedProxies: readonly Network[]): ClientAddress => {
  const trusted = new BlockList()
  for (const { address, prefix } of trustedProxies) trusted.addSubnet(address, prefix, familyOf(address))
  const isTrusted = (address: string): boolean => trusted.check(address, familyOf(address))

  return (peer, headers) => {
    const connected = parseIpAddress(peer.toLowerCase())
    if (connected === null) return peer
    if (trustedProxies.length === 0 || !isTrusted(connected)) return connected
    const hops = (headers.get('x-forwarded-for') ?? '').split(',')
    let client = ''
    // The client controls the number of entries, so read only the last entries.
    for (const text of hops.slice(-HOPS_MAX).reverse()) {
      const hop = parseIpAddress(text.trim().toLowerCase())
      // No trusted proxy vouches for entries to the left of an unreadable entry.
      if (hop === null) break
      client = hop
      if (!isTrusted(hop)) break
    }
    return client
  }
}
