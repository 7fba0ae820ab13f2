// An RPC endpoint that stalls, sends too much, or fails single calls.
import { afterEach, describe, expect, test } from 'bun:test'
import { createChainEndpoint } from '../../src/facts/chain-endpoint.ts'
import { failureReason } from '../../src/facts/failure-reason.ts'
import type { ReadCall } from '../../src/facts/read-call.ts'
import { startFloodingNode, startStalledNode } from './stalled-node.ts'

const started: { stop(): unknown }[] = []
afterEach(async () => {
  for (const node of started.splice(0)) await node.stop()
})

const reasonOf = async (url: string, timeoutMs: number): Promise<string> => {
  const block = createChainEndpoint({ url, chainId: 8453, timeoutMs }).latestBlock()
  const error = await block.then(
    () => expect.unreachable(),
    (thrown: unknown) => thrown,
  )
  return failureReason(error)
}

test('a node that stalls during its response is disconnected', async () => {
  const node = startStalledNode('[{"jsonrpc":"2.0","id":0,"result":"0x21')
  started.push(node)
  await reasonOf(node.url, 200)
  await node.left
})

test('a node with an endless response is disconnected', async () => {
  const node = startFloodingNode()
  started.push(node)
  expect(await reasonOf(node.url, 10_000)).toBe('the response has more than 1048576 bytes')
})

test('the reason for a failure does not contain the URL', async () => {
  const reason = await reasonOf('http://127.0.0.1:1/secret-path-key', 5_000)
  expect(reason).toStartWith('could not connect')
  expect(reason).not.toContain('secret')
})

interface RpcCall {
  readonly id: number
  readonly method: string
  readonly params: [{ to: string }]
}
const [GOOD, BAD] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]

/** A node with the errors of geth; `answer` returns the result or the error of a call to a contract. */
const startNode = (answer: (contract: string) => object) => {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const sent = (await request.json()) as RpcCall | RpcCall[]
      const answers = [sent].flat().map(({ id, method, params }) => {
        return { jsonrpc: '2.0', id, ...(method === 'eth_chainId' ? { result: '0x2105' } : answer(params[0].to)) }
      })
      return Response.json(Array.isArray(sent) ? answers : answers[0])
    },
  })
  started.push({ stop: () => server.stop(true) })
  return createChainEndpoint({ url: `http://127.0.0.1:${server.port}`, chainId: 8453, timeoutMs: 10_000 })
}
const callOf = (address: string): ReadCall =>
  ({ key: address, method: 'eth_call', address, data: '0x', decode: () => null }) as never

describe('a failing call does not affect others', () => {
  const [good, bad] = [callOf(GOOD), callOf(BAD)]
  const startWith = (answer: object) => startNode((to) => (to === GOOD ? { result: '0x2a' } : answer))
  const long = { result: `0x${'0'.repeat(1_100_000)}` }
  test.each([
    ['execution reverted', -32_000],
    ['invalid opcode: INVALID', -32_000],
    ['out of gas', -32_000],
    ['stack underflow (0 <=> 1)', -32_000],
    ['execution aborted (timeout = 5s)', -32_000],
    ['VM execution error.', -32_015],
  ])('if the contract fails: %s', async (message, code) => {
    expect(await startWith({ error: { code, message } }).readAt(1n, [bad, good])).toEqual([null, '0x2a'])
  })

  test.each([
    ['an unknown error', { error: { code: -32_000, message: 'words of no known node' } }],
    ['a limit of the node', { error: { code: -32_005, message: 'rate limit exceeded' } }],
    ['a result other than hex', { result: 'none' }],
    ['a missing answer', { id: 99 }],
  ])('if the node fails: %s', async (_, answer) => {
    expect(await startWith(answer).readAt(1n, [bad, good])).toEqual([undefined, '0x2a'])
  })

  test('if its response exceeds the limit of a batch', async () => {
    const nine = Array.from({ length: 9 }, () => good)
    const values = nine.map(() => '0x2a' as const)
    expect(await startWith(long).readAt(1n, [...nine, bad, good])).toEqual([...values, null, '0x2a'])
  })

  test('in concurrent batches', async () => {
    const node = startWith(long)
    expect(await Promise.all([node.readAt(1n, [bad]), node.readAt(1n, [good])])).toEqual([[null], ['0x2a']])
  })

  test('unless the node does not answer any call', async () => {
    const node = startNode(() => ({ error: { code: -32_005, message: 'rate limit exceeded' } }))
    await expect(node.readAt(1n, [good, bad])).rejects.toThrow()
  })
})
