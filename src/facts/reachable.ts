// Where a URL that an operator wrote may lead (threats row 15). Names are resolved here, every address they stand for is
// checked, and the connection goes to a checked address, so that a name can't be one thing when checked and another when
// used. Source: IANA special-purpose address registries (RFC 6890).
import { lookup as resolveName } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import type { Reach } from '../domain/list.ts'

/** The URL, or an address it stands for, may not be asked. `detail` is for the operator. */
export class UrlRefusedError extends Error {
  override readonly name = 'UrlRefusedError'
  readonly detail: string
  constructor(detail: string) {
    super(detail)
    this.detail = detail
  }
}

type Subnet = readonly [network: string, prefix: number]

const rangesOf = (subnets: readonly Subnet[]): BlockList => {
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

/** Nobody's service is there: this host, links (cloud metadata), documentation, benchmarks, multicast, reserved. */
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
  // Addresses that stand for an IPv4 address, which a router would reach in our place: Teredo and its kin, 6to4.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
])

/** Everything else of IPv6 is special: unspecified, mapped, translated, link, multicast. */
const GLOBAL_IPV6 = rangesOf([['2000::', 3]])

/** The IPv4 address that an IPv6 text maps (RFC 4291 §2.5.5.2), in dotted form, or the text itself. */
const unmapped = (address: string): string => /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address

/** Whether an IP address may be asked at all. */
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

/** Of a chain's node: whoever writes its URL runs the deployment, so one in the private network is theirs to name. */
export const nodeReach = (url: string): Reach => (LOOPBACK_NAMES.has(new URL(url).hostname) ? 'loopback' : 'private')

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

/**
 * A URL that may be asked, as far as its text tells: https, or http to this machine where the reach says so, and no
 * credentials in it.
 * @throws UrlRefusedError
 */
export const parseReachableUrl = (text: string, reach: Reach): URL => {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new UrlRefusedError('must be an https URL')
  }
  if (url.username !== '' || url.password !== '') throw new UrlRefusedError('must not hold credentials')
  if (url.protocol === 'http:' && reach !== 'loopback') throw new UrlRefusedError('must be an https URL')
  const host = hostOf(url)
  // An address in the text is never resolved, so it is checked here.
  if (isIP(host) !== 0 && !isReachable(host, reach))
    throw new UrlRefusedError('leads to an address that is not allowed')
  return url
}

/** For a request's `lookup`: resolves a name and refuses it when any of its addresses is not allowed. */
export const createGuardedLookup =
  (reach: Reach, resolve: typeof resolveName = resolveName): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { all: true, verbatim: true }, (error, addresses) => {
      if (error !== null) return callback(error, [])
      const allowed = addresses.length > 0 && addresses.every(({ address }) => isReachable(address, reach))
      if (!allowed) return callback(new UrlRefusedError('leads to an address that is not allowed'), [])
      const [first] = addresses
      if (options.all === true || first === undefined) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
