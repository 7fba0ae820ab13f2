// One RPC URL that does not behave: it stalls, floods or lies about its chain, and costs a bounded time each time.
import { afterEach, expect, test } from 'bun:test'
import { createChainEndpoint } from '../../src/facts/chain-endpoint.ts'
import { failureReason } from '../../src/facts/failure-reason.ts'
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
  expect(await reasonOf(node.url, 10_000)).toBe('the answer has more than 1048576 bytes')
})

test('what a failure says to the operator names no URL', async () => {
  const reason = await reasonOf('http://127.0.0.1:1/secret-path-key', 5_000)
  expect(reason).toStartWith('no connection')
  expect(reason).not.toContain('secret')
})
