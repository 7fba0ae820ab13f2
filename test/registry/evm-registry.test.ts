// The EVM registry reader on a real node and on nodes with invalid responses.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Hex } from 'viem'
import { encodeAbiParameters } from 'viem'
import { createEvmRegistry } from '../../src/facts/evm-registry.ts'
import { createJsonRpc, type JsonRpc, RpcFailedError } from '../../src/facts/json-rpc.ts'
import { describeOnChain } from '../chain/anvil.ts'
import { testAttester } from '../chain/attesting.ts'
import { type Deployed, type LocalChain, startLocalChain } from '../chain/local-chain.ts'
import { CONTRACT, evmAnswer, type FakeNode, failureOf, REGISTRY, Refusal, startFakeNode } from './support.ts'

const HASH = 'x-0123456789abcdef'

describeOnChain('a registry on a node', () => {
  let chain: LocalChain
  let rpc: JsonRpc
  let registry: Deployed
  let vault: Deployed
  const attester = testAttester(1).address

  beforeAll(async () => {
    chain = await startLocalChain(8453)
    rpc = createJsonRpc({ url: chain.url, timeoutMs: 5_000 })
    registry = await chain.deploy('PolicyRegistry', chain.accounts[0])
    vault = await chain.deploy('GuardedVault', chain.accounts[0], registry.address, HASH)
    await chain.send({ to: registry, name: 'registerAttester', arguments: [attester] })
  })
  afterAll(() => chain?.stop())
  const reader = (address: string = registry.address, chainId = 8453) =>
    createEvmRegistry(chainId, address.toLowerCase())

  test('returns the current policy of a contract, and null after its removal', async () => {
    const policyId = () => reader().policyId(rpc, vault.address.toLowerCase())
    expect(await policyId()).toBe(HASH)
    await chain.send({ to: vault, name: 'setPolicyID', arguments: ['x-fedcba9876543210'] })
    expect(await policyId()).toBe('x-fedcba9876543210')
    await chain.send({ to: vault, name: 'setPolicyID', arguments: [''] })
    expect(await policyId()).toBeNull()
  })

  test('returns null for addresses without code and for invalid verification hashes', async () => {
    expect(await reader().policyId(rpc, CONTRACT)).toBeNull()
    for (const odd of ['x'.repeat(65), 'two words', 'ünïcode', '\u0000']) {
      await chain.send({ to: registry, name: 'setPolicyID', arguments: [odd], from: CONTRACT as Hex })
      expect(await reader().policyId(rpc, CONTRACT)).toBeNull()
    }
  })

  test('fails if the registry address has no code or another contract', async () => {
    expect(await reader().isDeployed(rpc)).toBe(true)
    expect(await reader(CONTRACT).isDeployed(rpc)).toBe(false)
    for (const address of [CONTRACT, vault.address]) {
      expect(await failureOf(reader(address).policyId(rpc, CONTRACT))).toBeInstanceOf(RpcFailedError)
    }
  })

  test('returns attesters and the time of the latest block', async () => {
    expect(await reader().isAttesterRegistered(rpc, attester)).toBe(true)
    expect(await reader().isAttesterRegistered(rpc, CONTRACT)).toBe(false)
    expect(await reader().registeredAttesters(rpc)).toEqual([attester])
    expect(await reader().latestBlockSeconds(rpc)).toBe(await chain.timestampSeconds())
  })

  test('verifies the chain id', async () => {
    await reader().verify(rpc)
    const error = (await failureOf(reader(registry.address, 1).verify(rpc))) as RpcFailedError
    expect(error.detail).toBe('the RPC endpoint serves chain 8453 instead of 1')
  })
})

describe('a node with invalid responses', () => {
  const nodes: FakeNode[] = []
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.stop()
  })
  const rpcTo = (answer: Parameters<typeof startFakeNode>[0]): JsonRpc => {
    const node = startFakeNode(answer)
    nodes.push(node)
    return createJsonRpc({ url: node.url, timeoutMs: 5_000 })
  }
  const text = (value: string): Hex => encodeAbiParameters([{ type: 'string' }], [value])

  test.each([
    ['no data', '0x'],
    ['half a word', '0x00'],
    ['text that starts beyond the end', `0x${'ff'.repeat(32)}`],
    ['text longer than the response', `${text(HASH).slice(0, 66)}${'ff'.repeat(32)}`],
    ['a number', 7],
    ['null', null],
    ['invalid hex', '0xzz'],
    ['an object', {}],
  ])('fails the read: %s', async (_, answer) => {
    const registry = createEvmRegistry(8453, REGISTRY)
    expect(await failureOf(registry.policyId(rpcTo(evmAnswer(answer)), CONTRACT))).toBeInstanceOf(RpcFailedError)
  })

  test('can return an unknown policy, but not a policy id that is too long', async () => {
    const registry = createEvmRegistry(8453, REGISTRY)
    expect(await registry.policyId(rpcTo(evmAnswer(text('x-ffffffffffffffff'))), CONTRACT)).toBe('x-ffffffffffffffff')
    expect(await registry.policyId(rpcTo(evmAnswer(text('y'.repeat(100_000)))), CONTRACT)).toBeNull()
  })

  test('fails verification with a wrong or missing chain id', async () => {
    const registry = createEvmRegistry(8453, REGISTRY)
    for (const chainId of ['0x1', '0x', 'base', null, '0xffffffffffffffffffff']) {
      expect(await failureOf(registry.verify(rpcTo(() => chainId)))).toBeInstanceOf(RpcFailedError)
    }
    expect(await failureOf(registry.verify(rpcTo(() => new Refusal(-32601))))).toBeInstanceOf(RpcFailedError)
  })
})
