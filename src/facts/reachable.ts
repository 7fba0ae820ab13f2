// Decides which addresses an operator's URL may reach (threats row 15). Connects only to a checked address, so that a
// name can't resolve differently between check and use. Source: IANA special-purpose address registries (RFC 6890).
import type { LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { dns } from 'bun'
import type { Reach } from '../domain/list.ts'
import { DetailedError } from '../lib/named-error.ts'

/** `detail` is for the operator. */
export class UrlRefusedError extends DetailedError {}

const rangesOf = (subnets: readonly (readonly [network: string, prefix: number])[]): BlockList => {
  const list = new BlockList()
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, network.includes(':') ? 'ipv6' : 'ipv4')
  return list
}

const LOOPBACK = rangesOf([
  ['127.0.0.0', 8],
  ['::1', 128],
])

const PRIVATE = rangesOf([
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['fc00::', 7],
])

/** This host, link-local (cloud metadata), documentation, benchmarks, multicast, reserved. */
const NOWHERE = rangesOf([
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Teredo and similar, 6to4: they embed an IPv4 address to which a router would forward.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
])

/** Other IPv6 ranges are special: unspecified, mapped, translated, link-local, multicast. */
const GLOBAL_IPV6 = rangesOf([['2000::', 3]])

/** Converts an IPv4-mapped IPv6 address to IPv4 (RFC 4291 §2.5.5.2). */
const unmapped = (address: string): string => /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address

export const isReachable = (address: string, reach: Reach): boolean => {
  const text = unmapped(address)
  const version = isIP(text)
  if (version === 0) return false
  const family = version === 4 ? 'ipv4' : 'ipv6'
  const inside = (ranges: BlockList): boolean => ranges.check(text, family)
  if (inside(LOOPBACK)) return reach === 'loopback'
  if (reach === 'loopback' || inside(NOWHERE)) return false
  if (inside(PRIVATE)) return reach === 'private'
  return version === 4 || inside(GLOBAL_IPV6)
}

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Chain nodes are the operator's and may be in the private network. */
export const nodeReach = (url: string): Reach => (LOOPBACK_NAMES.has(new URL(url).hostname) ? 'loopback' : 'private')

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

/** Requires https, or http to loopback if allowed, and no credentials. @throws UrlRefusedError */
export const parseReachableUrl = (text: string, reach: Reach): URL => {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new UrlRefusedError('must be an https URL')
  }
  if (url.username !== '' || url.password !== '') throw new UrlRefusedError('must not contain credentials')
  if (url.protocol === 'http:' && reach !== 'loopback') throw new UrlRefusedError('must be an https URL')
  const host = hostOf(url)
  // An IP address is never resolved, so it is checked here.
  if (isIP(host) !== 0 && !isReachable(host, reach))
    throw new UrlRefusedError('resolves to an address that is not allowed')
  return url
}

type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>

/** c-ares uses no thread. `getaddrinfo` would block a thread of the pool that also reads files and hashes passwords. */
const resolveName: ResolveName = (hostname) => dns.lookup(hostname, { backend: 'c-ares' })

/** Rejects a name if any of its addresses isn't allowed. */
export const createGuardedLookup =
  (reach: Reach, resolve: ResolveName = resolveName): LookupFunction =>
  (hostname, options, callback) => {
    const check = (addresses: readonly LookupAddress[]): void => {
      const allowed = addresses.length > 0 && addresses.every(({ address }) => isReachable(address, reach))
      const [first] = addresses
      if (!allowed) callback(new UrlRefusedError('resolves to an address that is not allowed'), [])
      else if (options.all === true || first === undefined) callback(null, [...addresses])
      else callback(null, first.address, first.family)
    }
    resolve(hostname).then(check, (error) => callback(error, []))
  }

export const createUrlGuard = (reach: Reach) => ({
  parseUrl: (text: string): URL => parseReachableUrl(text, reach),
  lookup: createGuardedLookup(reach),
})
