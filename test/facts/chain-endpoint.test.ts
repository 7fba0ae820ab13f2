// One RPC URL that does not behave: it stalls, floods or lies about its chain, and costs a bounded time each time.
import { afterEach, describe, expect, test } from 'bun:test'
import { createChainEndpoint } from '../../src/facts/chain-endpoint.ts'
import { failureReason } from '../../src/facts/failure-reason.ts'
import type { ReadCall } from '../../src/facts/read-call.ts'
import { type StalledNode, startFloodingNode, startStalledNode } from './stalled-node.ts'

const started: { stop(): unknown }[] = []
afterEach(async () => {
  for (const node of started.splice(0)) await node.stop()
})

const stalled = (first: string): StalledNode => {
  const node = startStalledNode(first)
  started.push(node)
  return node
}

const reasonOf = async (url: string, timeoutMs: number): Promise<string> =>
  failureReason(
    await createChainEndpoint({ url, chainId: 8453, timeoutMs })
      .latestBlock()
      .then(
        () => expect.unreachable(),
        (error: unknown) => error,
      ),
  )

test('a node that stalls in the middle of its answer is given up, and its connection closed', async () => {
  const node = stalled('[{"jsonrpc":"2.0","id":0,"result":"0x21')
  await reasonOf(node.url, 200)
  await node.left
})

test('a node that answers with more than any answer has is cut off', async () => {
  const node = startFloodingNode()
  started.push(node)
  expect(await reasonOf(node.url, 10_000)).toBe('the response has more than 1048576 bytes')
})

test('what a failure says to the operator names no URL', async () => {
  const reason = await reasonOf('http://127.0.0.1:1/secret-path-key', 5_000)
  expect(reason).toStartWith('could not connect')
  expect(reason).not.toContain('secret')
})

/** A node in the words of geth; `answer` gives the result or the error of each call, by its contract. */
const startNode = (answer: (contract: string) => object) => {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const sent = (await request.json()) as { id: number; method: string; params: [{ to: string }] } | never[]
      const calls = (Array.isArray(sent) ? sent : [sent]) as { id: number; method: string; params: [{ to: string }] }[]
      const answers = calls.map(({ id, method, params }) => ({
        jsonrpc: '2.0',
        id,
        ...(method === 'eth_chainId' ? { result: '0x2105' } : answer(params[0].to)),
      }))
      return Response.json(Array.isArray(sent) ? answers : answers[0])
    },
  })
  started.push({ stop: () => server.stop(true) })
  return createChainEndpoint({ url: `http://127.0.0.1:${server.port}`, chainId: 8453, timeoutMs: 10_000 })
}
const callOf = (address: string): ReadCall =>
  ({ key: address, method: 'eth_call', address, data: '0x', decode: () => null }) as never

describe('a contract that fails takes no other call with it', () => {
  const [good, bad] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`] as const

  test.each([
    ['execution reverted', -32_000],
    ['invalid opcode: INVALID', -32_000],
    ['out of gas', -32_000],
    ['stack underflow (0 <=> 1)', -32_000],
    ['execution aborted (timeout = 5s)', -32_000],
    ['VM execution error.', -32_015],
  ])('%s', async (message, code) => {
    const node = startNode((to) => (to === good ? { result: '0x2a' } : { error: { code, message } }))
    expect(await node.readAt(1n, [callOf(bad), callOf(good)])).toEqual([null, '0x2a'])
  })

  test.each([
    ['words of no known node', { error: { code: -32_000, message: 'words of no known node' } }],
    ['a limit of the node', { error: { code: -32_005, message: 'rate limit exceeded' } }],
    ['a result that is not hex', { result: 'none' }],
    ['no answer at all', { id: 99 }],
  ])('%s is no failure of the contract', async (_, answer) => {
    const node = startNode((to) => (to === good ? { result: '0x2a' } : answer))
    expect(await node.readAt(1n, [callOf(bad), callOf(good)])).toEqual([undefined, '0x2a'])
  })

  test('its answer is longer than all answers may be', async () => {
    const long = `0x${'0'.repeat(1_100_000)}`
    const node = startNode((to) => ({ result: to === good ? '0x2a' : long }))
    const calls = [...Array.from({ length: 9 }, () => callOf(good)), callOf(bad), callOf(good)]
    expect(await node.readAt(1n, calls)).toEqual([...Array.from({ length: 9 }, () => '0x2a' as const), null, '0x2a'])
  })

  test('nor does it reach the calls of another reader at the same time', async () => {
    const long = `0x${'0'.repeat(1_100_000)}`
    const node = startNode((to) => ({ result: to === good ? '0x2a' : long }))
    expect(await Promise.all([node.readAt(1n, [callOf(bad)]), node.readAt(1n, [callOf(good)])])).toEqual([
      [null],
      ['0x2a'],
    ])
  })

  test('but a node that answers no call has failed itself', async () => {
    const node = startNode(() => ({ error: { code: -32_005, message: 'rate limit exceeded' } }))
    await expect(node.readAt(1n, [callOf(good), callOf(bad)])).rejects.toThrow()
  })
})
