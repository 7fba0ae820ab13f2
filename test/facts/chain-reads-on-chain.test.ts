// Chain reads from a real node: balances, tokens, owners and views, and RPC endpoints that are wrong or unavailable.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createRequire } from 'node:module'
import { createClient, type Hex, http, parseAbiItem, toFunctionSelector, toHex } from 'viem'
import { waitForTransactionReceipt } from 'viem/actions'
import { createChainReads } from '../../src/facts/chain-reads.ts'
import type { AbiFunctionItem, ReadDefinition, ReadOperand, ReadType, ReadValue } from '../../src/policy/types/reads.ts'
import { type AnvilProcess, describeOnChain, startAnvil } from '../chain/anvil.ts'
import { createManualClock } from '../server/manual-clock.ts'
import { requestOf, WALLET } from './fixtures.ts'

/** A contract with the functions of all token standards, and views of several types. */
const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract Everything {
  uint256 public tier = 3;
  function balanceOf(address owner) external pure returns (uint256) { return uint160(owner) % 1000; }
  function balanceOf(address owner, uint256 id) external pure returns (uint256) { return uint160(owner) % 10 + id; }
  function ownerOf(uint256 id) external view returns (address) { require(id == 1, "no such token"); return address(this); }
  function setTier(uint256 next) external { tier = next; }
  function isAllowed(address who, uint256 amount) external pure returns (bool) { return uint160(who) > amount; }
  function delta() external pure returns (int64) { return -5; }
  function label(bytes4 kind) external pure returns (string memory) { return kind == 0x01020304 ? "gold" : "none"; }
  function endless() external view returns (uint256) { while (gasleft() > 0) {} return 1; }
}`

const compile = (): Hex => {
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string }
  const sources = { 'Everything.sol': { content: SOURCE } }
  const settings = { evmVersion: 'cancun', outputSelection: { '*': { '*': ['evm.bytecode.object'] } } }
  const output = JSON.parse(solc.compile(JSON.stringify({ language: 'Solidity', sources, settings }))) as {
    contracts: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>
  }
  return `0x${output.contracts['Everything.sol']?.['Everything']?.evm.bytecode.object}`
}

const CHAIN_ID = 31_337
const BLOCK_TIME_MS = 2_000

describeOnChain('chain reads of a real node', () => {
  let node: AnvilProcess
  let contract: string
  const client = () => createClient({ transport: http(node.url) })
  const request = <Result>(method: string, params: readonly unknown[] = []): Promise<Result> =>
    client().request({ method, params } as never) as Promise<Result>

  const send = async (transaction: { readonly to?: string; readonly data: Hex }): Promise<string | null> => {
    const [from] = await request<string[]>('eth_accounts')
    const fields = { from, gas: toHex(3_000_000), gasPrice: '0x0', ...transaction }
    const hash = await request<Hex>('eth_sendTransaction', [fields])
    // The node responds before it mines.
    const receipt = await waitForTransactionReceipt(client(), { hash, pollingInterval: 20 })
    return receipt.contractAddress ?? null
  }

  beforeAll(async () => {
    node = await startAnvil(CHAIN_ID)
    contract = (await send({ data: compile() })) ?? ''
    await request('anvil_setBalance', [WALLET, toHex(123n * 10n ** 18n)])
  })
  afterAll(() => node?.stop())

  const create = (rpcUrls: readonly string[] = [node.url], chainId = CHAIN_ID) => {
    const clock = createManualClock()
    const errors: unknown[] = []
    const reads = createChainReads({
      chains: [{ name: 'base', chainId, rpcUrls, blockTimeMs: BLOCK_TIME_MS }],
      chainName: (name) => name,
      timeoutMs: 5_000,
      clock,
      onError: (error) => errors.push(error),
    })
    const caller = { organizationId: 'org', deadlineMs: Number.POSITIVE_INFINITY }
    const read = async (definition: ReadDefinition): Promise<ReadValue | null> =>
      reads.read(definition, requestOf(), caller)
    return { clock, errors, reads, read }
  }

  const wallet: ReadOperand = { kind: 'request', fact: 'wallet.address' }
  const value: ReadOperand = { kind: 'request', fact: 'tx.value' }
  const literal = (value: string): ReadOperand => ({ kind: 'literal', value })
  const view = (signature: string, type: ReadType, ...operands: ReadOperand[]): ReadDefinition => ({
    kind: 'view',
    chain: null,
    contract,
    abi: parseAbiItem(signature) as unknown as AbiFunctionItem,
    arguments: operands,
    type,
  })
  const tier = (): ReadDefinition => view('function tier() view returns (uint256)', 'uint256')

  test('balances, ownership and views are read together', async () => {
    const { read, errors } = create()
    const holder = BigInt(WALLET)
    const cases: [ReadDefinition, ReadValue][] = [
      [{ kind: 'native-balance', chain: null, of: wallet }, '123000000000000000000'],
      [{ kind: 'token-balance', chain: null, contract, of: wallet }, String(holder % 1000n)],
      [{ kind: 'erc721-owner', chain: null, contract, tokenId: '1' }, contract.toLowerCase()],
      [{ kind: 'erc1155-balance', chain: null, contract, tokenId: '40', of: wallet }, String((holder % 10n) + 40n)],
      [tier(), '3'],
      [view('function isAllowed(address, uint256) view returns (bool)', 'bool', wallet, value), true],
      [view('function delta() view returns (int64)', 'int'), '-5'],
      [view('function label(bytes4) view returns (string)', 'string', literal('0x01020304')), 'gold'],
    ]
    expect(await Promise.all(cases.map(([definition]) => read(definition)))).toEqual(cases.map(([, found]) => found))
    expect(errors).toEqual([])
  })

  test('a call that reverts, loops or has no contract has no value and isn’t a failure of the node', async () => {
    const { read, reads, errors } = create()
    const found = await Promise.all([
      read({ kind: 'erc721-owner', chain: null, contract, tokenId: '2' }),
      read({ kind: 'token-balance', chain: null, contract: `0x${'99'.repeat(20)}`, of: wallet }),
      read(view('function missing() view returns (uint256)', 'uint256')),
      read(view('function label(bytes4) view returns (uint256)', 'bool', literal('0x00000000'))),
      read(tier()),
    ])
    expect(found).toEqual([null, null, null, null, '3'])
    expect(errors).toEqual([])
    expect(reads.counts().get('base')).toMatchObject({ failed: 0, answered: 5 })
  })

  test('a new block yields new values', async () => {
    const { clock, read } = create()
    expect(await read(tier())).toBe('3')
    await send({ to: contract, data: `${toFunctionSelector('setTier(uint256)')}${'4'.padStart(64, '0')}` })
    expect(await read(tier())).toBe('3')
    clock.advance(BLOCK_TIME_MS)
    expect(await read(tier())).toBe('4')
  })

  test('an RPC endpoint of another chain is skipped, and the next endpoint is used', async () => {
    const lying = create([node.url], 1)
    expect(await lying.read(tier())).toBeNull()
    expect(lying.errors).toMatchObject([{ detail: `the RPC endpoint serves chain ${CHAIN_ID} instead of 1` }])
    const failing = create(['http://127.0.0.1:1', node.url])
    expect(await failing.read(tier())).not.toBeNull()
    expect(failing.errors).toHaveLength(1)
  })

  test.each<[string, () => Response]>([
    ['redirects', () => new Response(null, { status: 302, headers: { location: node.url } })],
    ['returns HTML', () => new Response('<html>maintenance</html>')],
    ['returns no hex', () => Response.json([{ jsonrpc: '2.0', id: 1, result: 'not hex' }])],
    ['returns no result', () => Response.json({})],
    [
      'never ends',
      () => new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(65_536).fill(32)) })),
    ],
  ])('an RPC endpoint that %s is not used', async (_name, answer) => {
    await using server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
    const { read, errors } = create([`http://127.0.0.1:${server.port}`])
    expect(await read(tier())).toBeNull()
    expect(errors).toHaveLength(1)
  })
})
