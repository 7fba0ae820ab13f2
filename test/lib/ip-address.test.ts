import { expect, test } from 'bun:test'
import { isIP } from 'node:net'
import fc from 'fast-check'
import { networkOf, parseIpAddress } from '../../src/lib/ip-address.ts'
import { words } from '../support/words.ts'

test.each([
  ...words`0.0.0.0 1.2.3.4 255.255.255.255 203.0.113.9`.map((text) => [text, text]),
  // Examples of RFC 5952.
  ['2001:0db8:0000:0000:0001:0000:0000:0001', '2001:db8::1:0:0:1'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
  ['2001:DB8::1', '2001:db8::1'],
  ['2001:db8:aaaa:bbbb:cccc:dddd:eeee:AAAA', '2001:db8:aaaa:bbbb:cccc:dddd:eeee:aaaa'],
  ['::', '::'],
  ['0:0:0:0:0:0:0:0', '::'],
  ['::1', '::1'],
  ['1::', '1::'],
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
  ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
  ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
  ['::1.2.3.4', '::102:304'],
  ['fe80::255.255.255.255', 'fe80::ffff:ffff'],
  // A mapped IPv4 address is the IPv4 address.
  ...words`::ffff:1.2.3.4 ::FFFF:1.2.3.4 0:0:0:0:0:ffff:0102:0304 ::ffff:102:304`.map((text) => [text, '1.2.3.4']),
  ['::ffff:ffff:ffff', '255.255.255.255'],
])('the canonical text of %s is %s', (text, canonical) => {
  expect(parseIpAddress(text)).toBe(canonical as never)
})

const NOT_ADDRESSES = words`
    1.2.3 1.2.3.4.5 256.1.1.1 1.2.3.400 01.2.3.4 1.2.3.00 1.2..4 1.2.3.-4 0x1.2.3.4 16909060 １.2.3.4
    : ::: 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1::2::3 12345:: :1:2:3:4:5:6:7 1:2:3:4:5:6:7: ::1: :1:: g:: ::1%eth0 [::1]
    ::1/128 ::1.2.3 ::1.2.3.4.5 ::256.1.1.1 1.2.3.4:: 1:2:3:4:5:6:7:1.2.3.4 ::ffff:1.2.3.4:5 1:2:3:4:5:6:7:8::
  `
const WITH_SPACES = ['', '1.2.3.4 ', ' 1.2.3.4', '1.2.3.4\n', ' ::1', '::1 ']

test.each([...NOT_ADDRESSES, ...WITH_SPACES, '0'.repeat(1_000), '::'.repeat(30)])('%p is not an address', (text) => {
  expect(parseIpAddress(text)).toBeNull()
})

test('accepts the addresses that Node accepts, except zones and leading zeros', () => {
  const mixed = fc.string({
    unit: fc.constantFrom('0', '1', '2', '5', 'a', 'F', ':', '::', '.', 'ffff'),
    maxLength: 14,
  })
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), mixed), (text) => {
      expect(parseIpAddress(text) !== null).toBe(isIP(text) !== 0)
    }),
    { numRuns: 3_000 },
  )
})

test('the canonical text of an address is a valid address and is its own canonical text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const canonical = parseIpAddress(text)!
      expect(isIP(canonical)).not.toBe(0)
      expect(parseIpAddress(canonical)).toBe(canonical)
    }),
    { numRuns: 1_000 },
  )
})

test('all spellings of the same eight groups have the same canonical text', () => {
  const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 65_535 }))
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), fc.nat(7), fc.boolean(), (groups, at, upper) => {
      const plain = groups.map((value) => value.toString(16))
      const padded = groups.map((value) => value.toString(16).padStart(4, '0'))
      const spellings = [plain.join(':'), padded.join(':'), upper ? padded.join(':').toUpperCase() : plain.join(':')]
      // A spelling with `::`, if a run of zeros starts at this index.
      let end = at
      while (groups[end] === 0) end++
      if (end > at) spellings.push(`${plain.slice(0, at).join(':')}::${plain.slice(end).join(':')}`)
      const results = new Set(spellings.map(parseIpAddress))
      expect(results.size).toBe(1)
      const mapped = plain.slice(0, 6).join(':') === '0:0:0:0:0:ffff'
      // The URL parser of the platform formats an address in the same way.
      if (!mapped) expect([...results][0]!).toBe(new URL(`http://[${plain.join(':')}]/`).hostname.slice(1, -1))
    }),
    { numRuns: 1_000 },
  )
})

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['', ''],
])('the network of %p is %p', (address, network) => expect(networkOf(address)).toBe(network))
