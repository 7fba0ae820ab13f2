// The chain that is asked about a contract wallet, when it does not behave: it costs a bounded time and memory, and what
// is not known is no verdict.
import { afterEach, expect, test } from 'bun:test'
import type { EvmAddress } from '../../src/domain/address.ts'
import { createRpcTransport } from '../../src/facts/rpc-transport.ts'
import { createContractProofVerifier } from '../../src/identity/sessions/contract-proof.ts'
import { startFloodingNode, startStalledNode } from '../facts/stalled-node.ts'

const started: { stop(): unknown }[] = []
afterEach(async () => {
  for (const node of started.splice(0)) await node.stop()
})

const ADDRESS = '0x1111111111111111111111111111111111111111' as EvmAddress

const askedOf = (url: string, timeoutMs: number) =>
  createContractProofVerifier({
    rpcUrls: new Map([[8453, [url]]]),
    transport: async (each) => createRpcTransport({ url: each, timeoutMs }),
  })({ wallet: { family: 'evm', address: ADDRESS, chainId: 8453 }, message: 'hello', signature: '0x1234' })

const refused = { code: 'DEPENDENCY_UNAVAILABLE' }

test('an answer that never ends is given up, and its connection closed', async () => {
  const node = startStalledNode('{"jsonrpc":"2.0","id":1,"result":"0x21')
  started.push(node)
  expect(await askedOf(node.url, 200).catch((error: unknown) => error)).toMatchObject(refused)
  await node.left
})

test('an answer that never stops growing is cut off', async () => {
  const node = startFloodingNode()
  started.push(node)
  expect(await askedOf(node.url, 60_000).catch((error: unknown) => error)).toMatchObject(refused)
  await node.left
})
