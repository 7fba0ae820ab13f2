// A faulty chain node of a contract proof: the request takes bounded time and memory, and fails without a verdict.
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

test.each([
  ['never ends', () => startStalledNode('{"jsonrpc":"2.0","id":1,"result":"0x21'), 200],
  ['never stops growing', startFloodingNode, 60_000],
] as const)('a response that %s fails, and its connection is closed', async (_name, start, timeoutMs) => {
  const node = start()
  started.push(node)
  const verify = createContractProofVerifier({
    rpcUrls: new Map([[8453, [node.url]]]),
    transport: async (url) => createRpcTransport({ url, timeoutMs }),
  })
  const wallet = { family: 'evm', address: ADDRESS, chainId: 8453 } as const
  const outcome = await verify({ wallet, message: 'hello', signature: '0x1234' }).catch((error: unknown) => error)
  expect(outcome).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
  await node.left
})
