// Where an operator's URL may lead, and where not, however it is written.
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

describe('an address', () => {
  test('is reachable by what the operator said', () => {
    for (const address of [...PUBLIC, ...mapped(PUBLIC)]) {
      expect([address, isReachable(address, 'public'), isReachable(address, 'loopback')]).toEqual([
        address,
        true,
        false,
      ])
      expect(isReachable(address, 'private')).toBe(true)
    }
    for (const address of [...PRIVATE, ...mapped(PRIVATE)]) {
      expect([address, isReachable(address, 'public'), isReachable(address, 'loopback')]).toEqual([
        address,
        false,
        false,
      ])
      expect(isReachable(address, 'private')).toBe(true)
    }
    for (const address of [...LOOPBACK, ...mapped(LOOPBACK)]) {
      expect([address, isReachable(address, 'public'), isReachable(address, 'private')]).toEqual([
        address,
        false,
        false,
      ])
      expect(isReachable(address, 'loopback')).toBe(true)
    }
    for (const address of [...NOWHERE, ...mapped(NOWHERE), 'nonsense', '']) {
      for (const reach of ['public', 'private', 'loopback'] as const) {
        expect([address, isReachable(address, reach)]).toEqual([address, false])
      }
    }
  })
})

describe('a URL', () => {
  test('is https, without credentials', () => {
    expect(parseReachableUrl('https://lists.example/a?b#c', 'public').hostname).toBe('lists.example')
    for (const text of [
      'http://lists.example/',
      'file:///etc/passwd',
      'data:,x',
      'ftp://a/',
      '/path',
      'no url',
      '',
      'https:',
    ]) {
      expect(problemOf(text)).toBe('must be an https URL')
    }
    expect(problemOf('https://user@lists.example/')).toBe('must not contain credentials')
    expect(problemOf('https://user:password@lists.example/')).toBe('must not contain credentials')
  })

  test('is not an address that is not allowed, in any spelling', () => {
    const spellings = words`
      127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 [::1] [::ffff:127.0.0.1] [::ffff:7f00:1] 10.0.0.1
      169.254.169.254 [fe80::1] 0 0.0.0.0 127.0.0.1. 017700000001 172.16.0.1 192.168.0.1 100.64.0.1 224.0.0.1
      255.255.255.255 １２７.0.0.1 127。0。0。1 [::] [fd00::1] [64:ff9b::a00:1] [2002:7f00:1::]
    `
    for (const host of spellings) {
      expect([host, problemOf(`https://${host}/`)]).toEqual([host, 'resolves to an address that is not allowed'])
    }
    expect(parseReachableUrl('https://1.1.1.1/', 'public').hostname).toBe('1.1.1.1')
    expect(parseReachableUrl('http://127.0.0.1:8099/', 'loopback').port).toBe('8099')
    expect(problemOf('http://127.0.0.1/', 'private')).toBe('must be an https URL')
    expect(problemOf('https://1.1.1.1/', 'loopback')).toBe('resolves to an address that is not allowed')
  })
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

  test('is used when everything it stands for is allowed', async () => {
    expect(await look('public', true, '1.1.1.1', '2606:4700::1111')).toEqual([
      { address: '1.1.1.1', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ])
    expect(await look('public', false, '1.1.1.1')).toBe('1.1.1.1')
  })

  test('is refused when any of it is not: a resolver that answers in turns finds no gap', async () => {
    expect(await look('public', true, '1.1.1.1', '10.0.0.1')).toBe('UrlRefusedError')
    expect(await look('private', true, '10.0.0.1', '127.0.0.1')).toBe('UrlRefusedError')
    expect(await look('loopback', true, '127.0.0.1', '1.1.1.1')).toBe('UrlRefusedError')
    expect(await look('public', true, '::ffff:10.1.2.3')).toBe('UrlRefusedError')
    expect(await look('public', true)).toBe('Error')
  })

  test('is looked up without a thread of the pool, which a silent name server would hold', async () => {
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
