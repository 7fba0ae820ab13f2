// The reader of the Solana registry's accounts, whose layout follows the source of the public program.
import { afterEach, describe, expect, test } from 'bun:test'
import { createJsonRpc, type JsonRpc, RpcFailedError } from '../../src/facts/json-rpc.ts'
import { createSolanaRegistry, MAINNET_GENESIS_HASH } from '../../src/facts/solana-registry.ts'
import {
  discriminator,
  type FakeNode,
  failureOf,
  keyBytes,
  SOLANA_REGISTRY as PROGRAM,
  policyAccount,
  registryAccount,
  type SolanaAccount,
  startFakeNode,
  startSolanaNode,
  SOLANA_PROGRAM as TARGET,
} from './support.ts'

const SYSTEM_PROGRAM = '11111111111111111111111111111111'
const HASH = 'x-0123456789abcdef'

const nodes: FakeNode[] = []
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.stop()
})

const attesterAccount = (attester: string, isRegistered: boolean): Buffer =>
  Buffer.concat([
    discriminator('AttesterAccount'),
    keyBytes(attester),
    Buffer.from([isRegistered ? 1 : 0]),
    Buffer.alloc(8),
  ])

const rpcWith = (accounts: Readonly<Record<string, SolanaAccount>>): JsonRpc => {
  const node = startSolanaNode(accounts)
  nodes.push(node)
  return createJsonRpc({ url: node.url, timeoutMs: 5_000 })
}
const registry = createSolanaRegistry(PROGRAM, MAINNET_GENESIS_HASH)
const policyId = (account: SolanaAccount): Promise<string | null> =>
  registry.policyId(rpcWith({ [registryAccount('policy', TARGET)]: account }), TARGET)

describe('the policy of a program', () => {
  test('is read from its account, up to 64 bytes', async () => {
    for (const text of [HASH, 'x'.repeat(64)]) expect(await policyId({ data: policyAccount(text) })).toBe(text)
  })

  test('is null without an account, or if another program owns the account', async () => {
    expect(await registry.policyId(rpcWith({}), TARGET)).toBeNull()
    expect(await policyId({ data: Buffer.alloc(0), owner: SYSTEM_PROGRAM })).toBeNull()
    expect(await policyId({ data: policyAccount(HASH), owner: TARGET })).toBeNull()
  })

  test('is null if it is not a valid verification hash', async () => {
    for (const text of ['', 'x'.repeat(65), 'two words', 'ünïcode']) {
      expect(await policyId({ data: policyAccount(text) })).toBeNull()
    }
  })

  test.each([
    ['another kind of account', attesterAccount(TARGET, true)],
    ['an empty account', Buffer.alloc(0)],
    ['a truncated account', policyAccount(HASH).subarray(0, 74)],
    ['an account of another program', policyAccount(HASH, PROGRAM)],
    ['text longer than its account', policyAccount(HASH).fill(0xff, 72, 76)],
  ])('cannot be read from %s', async (_, data) => {
    expect(await failureOf(policyId({ data }))).toBeInstanceOf(RpcFailedError)
  })

  test.each([[null], [{}], [{ value: {} }], [{ value: { owner: PROGRAM, data: 'base58' } }], [7]])(
    'cannot be read from the response %j',
    async (answer) => {
      const node = startFakeNode(() => answer)
      nodes.push(node)
      const rpc = createJsonRpc({ url: node.url, timeoutMs: 5_000 })
      expect(await failureOf(registry.policyId(rpc, TARGET))).toBeInstanceOf(RpcFailedError)
    },
  )
})

test('attesters, the program and the time are read', async () => {
  const rpc = rpcWith({
    [registryAccount('attester', TARGET)]: { data: attesterAccount(TARGET, true) },
    [registryAccount('attester', PROGRAM)]: { data: attesterAccount(PROGRAM, false) },
    [PROGRAM]: { data: Buffer.alloc(36), owner: 'BPFLoaderUpgradeab1e11111111111111111111111', executable: true },
  })
  const registered = [TARGET, PROGRAM, SYSTEM_PROGRAM].map((attester) => registry.isAttesterRegistered(rpc, attester))
  expect(await Promise.all(registered)).toEqual([true, false, false])
  expect(await registry.isDeployed(rpc)).toBe(true)
  expect(await createSolanaRegistry(TARGET, MAINNET_GENESIS_HASH).isDeployed(rpc)).toBe(false)
  expect(await registry.registeredAttesters(rpc)).toBeNull()
  expect(await registry.latestBlockSeconds(rpc)).toBe(1_795_169_702)
})

test('the cluster is verified by its genesis hash', async () => {
  const rpc = rpcWith({})
  await registry.verify(rpc)
  expect(await failureOf(createSolanaRegistry(PROGRAM, TARGET).verify(rpc))).toBeInstanceOf(RpcFailedError)
})
