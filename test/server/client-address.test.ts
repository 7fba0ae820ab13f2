// The address of a client, with and without proxies (threats row 24).
import { describe, expect, test } from 'bun:test'
import { createClientAddress, parseNetworks } from '../../src/server/client-address.ts'

const behind = (networks: string) => {
  const clientAddress = createClientAddress(parseNetworks(networks))
  return (peer: string, forwarded?: string): string =>
    clientAddress(peer, new Headers(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }))
}

test('without a trusted proxy, the client address is the address of the connection, and the header is ignored', () => {
  expect(behind('')('203.0.113.9', '198.51.100.1')).toBe('203.0.113.9')
  expect(behind('10.0.0.0/8')('203.0.113.9', '198.51.100.1')).toBe('203.0.113.9')
  expect(behind('')('::ffff:203.0.113.9')).toBe('203.0.113.9')
})

test.each<[string, string, string | undefined, string]>([
  ['the client of the proxy', '10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['the rightmost address, not that of the client’s header', '10.0.0.1', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
  ['not a trusted address in the client’s header', '10.0.0.1', '10.0.0.7, 203.0.113.9', '203.0.113.9'],
  ['the client of two proxies', '10.0.0.1', '198.51.100.1, 203.0.113.9, 10.2.3.4', '203.0.113.9'],
  ['a client in a trusted network', '10.0.0.1', '10.0.0.50', '10.0.0.50'],
  ['no address to the left of an unreadable address', '10.0.0.1', '203.0.113.9, unknown, 10.2.3.4', '10.2.3.4'],
  ['empty without a header', '10.0.0.1', undefined, ''],
  ['empty with an unreadable header', '10.0.0.1', 'unknown', ''],
  ['the client of a proxy with a mapped IPv6 address', '::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['a canonical IPv6 address', 'fd00::1', '2001:DB8::0001', '2001:db8::1'],
])('behind trusted proxies, the address is %s', (_name, peer, forwarded, expected) =>
  expect(behind('10.0.0.0/8, fd00::/8')(peer, forwarded)).toBe(expected),
)

test('only the last 32 entries are read', () => {
  const hops = (count: number): string => `203.0.113.9${', 10.0.0.7'.repeat(count)}`
  expect(behind('10.0.0.0/8')('10.0.0.1', hops(31))).toBe('203.0.113.9')
  expect(behind('10.0.0.0/8')('10.0.0.1', hops(32))).toBe('10.0.0.7')
})

describe('networks', () => {
  test('are parsed with and without a prefix length', () => {
    expect(parseNetworks('10.0.0.0/8,192.0.2.1,fd00::/8')).toEqual([
      { address: '10.0.0.0', prefix: 8 },
      { address: '192.0.2.1', prefix: 32 },
      { address: 'fd00::', prefix: 8 },
    ])
    expect(parseNetworks('')).toEqual([])
  })

  test.each(['10.0.0.0/33', 'fd00::/129', 'proxy.example', '10.0.0.0/8,,', '10.0.0.0/', '*', '10.0.0/8'])(
    'cannot be %p',
    (text) => expect(() => parseNetworks(text)).toThrow('must be a comma-separated list of networks'),
  )
})
