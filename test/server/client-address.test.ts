// Where a request comes from, behind proxies and without: threats row 24.
import { describe, expect, test } from 'bun:test'
import { createClientAddress, parseNetworks } from '../../src/server/client-address.ts'

const behind = (networks: string) => {
  const clientAddress = createClientAddress(parseNetworks(networks))
  return (peer: string, forwarded?: string): string =>
    clientAddress(peer, new Headers(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }))
}

describe('without a trusted proxy', () => {
  test('the connection’s address counts, whatever the header says', () => {
    expect(behind('')('203.0.113.9', '198.51.100.1')).toBe('203.0.113.9')
    expect(behind('10.0.0.0/8')('203.0.113.9', '198.51.100.1')).toBe('203.0.113.9')
    expect(behind('')('::ffff:203.0.113.9')).toBe('203.0.113.9')
  })
})

describe('behind trusted proxies', () => {
  const rows: ReadonlyArray<readonly [string, string, string | undefined, string]> = [
    ['the proxy’s client', '10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['the rightmost, not what the client wrote', '10.0.0.1', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['not a trusted address that the client wrote', '10.0.0.1', '10.0.0.7, 203.0.113.9', '203.0.113.9'],
    ['behind two proxies', '10.0.0.1', '198.51.100.1, 203.0.113.9, 10.2.3.4', '203.0.113.9'],
    ['a client in a trusted network', '10.0.0.1', '10.0.0.50', '10.0.0.50'],
    ['nothing left of what can’t be read', '10.0.0.1', '203.0.113.9, unknown, 10.2.3.4', '10.2.3.4'],
    ['nobody where the proxy says nothing', '10.0.0.1', undefined, ''],
    ['nobody where it can’t be read', '10.0.0.1', 'unknown', ''],
    ['a proxy whose address is mapped into IPv6', '::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['IPv6', 'fd00::1', '2001:DB8::0001', '2001:db8::1'],
  ]
  for (const [what, peer, forwarded, expected] of rows) {
    test(what, () => expect(behind('10.0.0.0/8, fd00::/8')(peer, forwarded)).toBe(expected))
  }
})

test('only the last 32 entries are read', () => {
  const hops = (count: number): string => `203.0.113.9${', 10.0.0.7'.repeat(count)}`
  expect(behind('10.0.0.0/8')('10.0.0.1', hops(31))).toBe('203.0.113.9')
  expect(behind('10.0.0.0/8')('10.0.0.1', hops(32))).toBe('10.0.0.7')
})

describe('networks', () => {
  test('are read with and without a length', () => {
    expect(parseNetworks('10.0.0.0/8,192.0.2.1,fd00::/8')).toEqual([
      { address: '10.0.0.0', prefix: 8 },
      { address: '192.0.2.1', prefix: 32 },
      { address: 'fd00::', prefix: 8 },
    ])
    expect(parseNetworks('')).toEqual([])
  })

  test('that are none are refused', () => {
    for (const text of ['10.0.0.0/33', 'fd00::/129', 'proxy.example', '10.0.0.0/8,,', '10.0.0.0/', '*', '10.0.0/8']) {
      expect(() => parseNetworks(text)).toThrow('must be a comma-separated list of networks')
    }
  })
})
