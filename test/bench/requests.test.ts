// The prepared requests of the load generator.
import { describe, expect, test } from 'bun:test'
import { prepareRequests } from '../../bench/load/requests.ts'

const URL_HERE = new URL('http://127.0.0.1:8080/v2/attestation')
const target = { to: '0x4daf89a45564390fba803dc9509ea6732d0b6c42' }
const onChain = { seed: 'test', wallets: 50, chain: 'base', target } as const

describe('prepared requests', () => {
  test('are complete HTTP requests', () => {
    const { bytes } = prepareRequests(URL_HERE, { 'x-api-key': 'k' }, onChain)
    const [head = '', body = ''] = Buffer.from(bytes[0]!).toString().split('\r\n\r\n')
    expect(head.split('\r\n')).toEqual([
      'POST /v2/attestation HTTP/1.1',
      'Host: 127.0.0.1:8080',
      'x-api-key: k',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ])
    expect(Object.keys(JSON.parse(body))).toEqual(['to', 'from', 'chain', 'data', 'msg_value'])
  })

  test('differ from each other, and depend only on the seed', () => {
    const { bodies } = prepareRequests(URL_HERE, {}, onChain)
    expect(new Set(bodies.map(({ from }) => from)).size).toBe(50)
    expect(prepareRequests(URL_HERE, {}, onChain).bodies).toEqual(bodies)
    expect(prepareRequests(URL_HERE, {}, { ...onChain, seed: 'other' }).bodies[0]).not.toEqual(bodies[0])
  })

  test('have a new idempotency key each time they are sent', () => {
    const { bytes, stamp } = prepareRequests(URL_HERE, { 'x-api-key': 'k' }, { ...onChain, idempotencyKeys: true })
    const keys = Array.from({ length: 1_234 }, (_, index) => {
      const request = bytes[index % bytes.length]!
      const sent = Buffer.from(stamp(request)).toString()
      const [, key = ''] = /\r\nidempotency-key: (\S+)\r\nx-api-key: k\r\n/.exec(sent) ?? []
      const unstamped = Buffer.from(request).toString()
      expect(sent.replace(key, '')).toBe(unstamped.replace(/bench-[-0-9a-f]+/, ''))
      return key
    })
    expect(new Set(keys).size).toBe(1_234)
    expect(keys.at(-1)).toEndWith('-000000001234')
    const again = prepareRequests(URL_HERE, {}, { ...onChain, idempotencyKeys: true })
    expect(keys).not.toContain(Buffer.from(again.stamp(again.bytes[0]!)).toString().split('\r\n')[2]?.slice(17))
    const plain = prepareRequests(URL_HERE, {}, onChain)
    expect(plain.stamp(plain.bytes[0]!)).toBe(plain.bytes[0]!)
  })

  test('have 68 bytes of calldata for a contract and no calldata for a project', () => {
    const { bodies } = prepareRequests(URL_HERE, {}, onChain)
    expect(bodies.every(({ data }) => /^0xa9059cbb[0-9a-f]{128}$/.test(data))).toBe(true)
    const project = { ...onChain, target: { verificationHash: 'x-1' } }
    const [request] = prepareRequests(URL_HERE, {}, project).bytes
    expect(JSON.parse(Buffer.from(request!).toString().split('\r\n\r\n')[1] ?? '')).toMatchObject({
      verification_hash: 'x-1',
      chain: 'base',
    })
  })
})
