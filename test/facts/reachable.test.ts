// Reachable addresses and URLs, in every spelling.
import { describe, expect, spyOn, test } from 'bun:test'
import { dns } from 'bun'
import type { Reach } from '../../src/domain/list.ts'
import { createGuardedLookup, isReachable, parseReachableUrl, UrlRefusedError } from '../../src/facts/reachable.ts'
import { words } from '../support/words.ts'

const PUBLIC = ['1.1.1.1', '93.184.216.34', '172.32.0.1', '2606:4700::1111', '2a00:1450::1']
const PRIVATE = ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', 'fd00::1', 'fc00::1']
const LOOPBACK = ['127.0.0.1', '127.255.255.254', '::1']
const NOWHERE = words`
  0.0.0.0 169.254.169.254 192.0.2.1 198.18.0.1 203.0.113.1 224.0.0.1 255.255.255.255 :: fe80::1 ff02::1 2001:db8::1
  2002:7f00:1:: 2001:0:1:: 64:ff9b::7f00:1 fec0::1
`
const mapped = (addresses: readonly string[]): string[] =>
  addresses.filter((address) => address.includes('.')).map((address) => `::ffff:${address}`)

const problemOf = (text: string, reach: Reach = 'public'): string => {
  try {
    parseReachableUrl(text, reach)
  } catch (error) {
    expect(error).toBeInstanceOf(UrlRefusedError)
    return (error as UrlRefusedError).detail
  }
  throw new Error(`${text} was accepted`)
}
const NOT_HTTPS = 'must be an https URL'
const CREDENTIALS = 'must not contain credentials'
const FORBIDDEN = 'resolves to an address that is not allowed'

describe('an address', () => {
  const cases = [
    [PUBLIC, ['public', 'private']],
    [PRIVATE, ['private']],
    [LOOPBACK, ['loopback']],
    [[...NOWHERE, 'nonsense', ''], []],
  ] as const
  test.each(
    cases.flatMap(([addresses, reaches]) =>
      [...addresses, ...mapped(addresses)].map((address) => [address, reaches] as const),
    ),
  )('%p is reachable with %j', (address, reaches) => {
    const all = ['public', 'private', 'loopback'] as const
    expect(all.filter((reach) => isReachable(address, reach))).toEqual([...reaches])
  })
})

describe('a URL', () => {
  const insecure = [
    'http://lists.example/',
    'file:///etc/passwd',
    'data:,x',
    'ftp://a/',
    '/path',
    'no url',
    '',
    'https:',
  ]
  const spellings = words`
    127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 [::1] [::ffff:127.0.0.1] [::ffff:7f00:1] 10.0.0.1
    169.254.169.254 [fe80::1] 0 0.0.0.0 127.0.0.1. 017700000001 172.16.0.1 192.168.0.1 100.64.0.1 224.0.0.1
    255.255.255.255 １２７.0.0.1 127。0。0。1 [::] [fd00::1] [64:ff9b::a00:1] [2002:7f00:1::]
  `
  test.each<[string, Reach, string]>([
    ...insecure.map((text) => [text, 'public', NOT_HTTPS] as [string, Reach, string]),
    ['http://127.0.0.1/', 'private', NOT_HTTPS],
    ['https://user@lists.example/', 'public', CREDENTIALS],
    ['https://user:password@lists.example/', 'public', CREDENTIALS],
    ...spellings.map((host) => [`https://${host}/`, 'public', FORBIDDEN] as [string, Reach, string]),
    ['https://1.1.1.1/', 'loopback', FORBIDDEN],
  ])('%p is refused for %s', (text, reach, problem) => expect(problemOf(text, reach)).toBe(problem))

  test.each([
    ['https://lists.example/a?b#c', 'public', 'lists.example'],
    ['https://1.1.1.1/', 'public', '1.1.1.1'],
    ['http://127.0.0.1:8099/', 'loopback', '127.0.0.1:8099'],
  ] as const)('%s is accepted for %s', (text, reach, host) => expect(parseReachableUrl(text, reach).host).toBe(host))
})

describe('a name', () => {
  const resolving = (addresses: readonly string[]) => async () => {
    if (addresses.length === 0) throw new Error('not found')
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  const look = (reach: Reach, all: boolean, ...addresses: string[]): Promise<unknown> =>
    new Promise((resolve) =>
      createGuardedLookup(reach, resolving(addresses))('lists.example', { all }, (error, found) =>
        resolve(error === null ? found : error.name),
      ),
    )

  test('is used if all its addresses are allowed', async () => {
    expect(await look('public', true, '1.1.1.1', '2606:4700::1111')).toEqual([
      { address: '1.1.1.1', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ])
    expect(await look('public', false, '1.1.1.1')).toBe('1.1.1.1')
  })

  test.each<[Reach, ...string[]]>([
    ['public', '1.1.1.1', '10.0.0.1'],
    ['private', '10.0.0.1', '127.0.0.1'],
    ['loopback', '127.0.0.1', '1.1.1.1'],
    ['public', '::ffff:10.1.2.3'],
  ])('is refused for %s if one address is forbidden: %s %s', async (reach, ...addresses) => {
    expect(await look(reach, true, ...addresses)).toBe('UrlRefusedError')
  })

  test('fails if it cannot be resolved', async () => expect(await look('public', true)).toBe('Error'))

  test('is resolved without a thread of the pool, which a silent name server would block', async () => {
    const lookup = spyOn(dns, 'lookup')
    try {
      const found = await new Promise((resolve) =>
        createGuardedLookup('loopback')('localhost', { all: true }, (error, addresses) => resolve(error ?? addresses)),
      )
      expect(found).toContainEqual(expect.objectContaining({ address: '127.0.0.1', family: 4 }))
      expect(lookup).toHaveBeenCalledWith('localhost', { backend: 'c-ares' })
    } finally {
      lookup.mockRestore()
    }
  })
})
