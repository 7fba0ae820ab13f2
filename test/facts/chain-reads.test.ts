// Reads of chain state over endpoints of the test's own: what is asked, when it is asked again, and who is asked next.
import { describe, expect, test } from 'bun:test'
import { encodeFunctionResult, type Hex, parseAbi, parseAbiItem, toFunctionSelector } from 'viem'
import type { AttestationRequest } from '../../src/domain/attestation.ts'
import type { CallAnswer, ChainEndpoint } from '../../src/facts/chain-endpoint.ts'
import { createChainReads, type ReadableChain } from '../../src/facts/chain-reads.ts'
import { type ReadCall, readCallOf } from '../../src/facts/read-call.ts'
import type { RemoteCaller } from '../../src/facts/remote.ts'
import type { AbiFunctionItem, ReadDefinition, ReadType } from '../../src/policy/types/reads.ts'
import { createManualClock } from '../server/manual-clock.ts'
import { chainOf } from '../support/request.ts'
import { CONTRACT, requestOf, WALLET } from './fixtures.ts'

const BALANCE: ReadDefinition = { kind: 'native-balance', chain: null, of: { kind: 'request', fact: 'wallet.address' } }
const TOKEN: ReadDefinition = { ...BALANCE, kind: 'token-balance', contract: CONTRACT }
const number = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`

const view = (signature: string, type: ReadType, ...literals: (string | boolean)[]): ReadDefinition => ({
  kind: 'view',
  chain: null,
  contract: CONTRACT,
  abi: parseAbiItem(signature) as unknown as AbiFunctionItem,
  arguments: literals.map((value) => ({ kind: 'literal', value })),
  type,
})

interface FakeEndpoint extends ChainEndpoint {
  block: bigint
  broken: boolean
  answer: (call: ReadCall, block: bigint) => CallAnswer
  readonly batches: ReadCall[][]
  blocksAsked: number
}

const createEndpoint = (): FakeEndpoint => {
  const endpoint: FakeEndpoint = {
    block: 100n,
    broken: false,
    answer: (_, block) => number(block),
    batches: [],
    blocksAsked: 0,
    latestBlock: async () => {
      endpoint.blocksAsked += 1
      if (endpoint.broken) throw new Error('down')
      return endpoint.block
    },
    readAt: async (block, calls) => {
      if (endpoint.broken) throw new Error('down')
      endpoint.batches.push([...calls])
      return calls.map((call) => endpoint.answer(call, block))
    },
  }
  return endpoint
}

const create = (urls = ['https://a.example']) => {
  const clock = createManualClock()
  const errors: unknown[] = []
  const failed: string[] = []
  const endpoints = new Map(urls.map((url) => [url, createEndpoint()]))
  const chain: ReadableChain = { name: 'base', chainId: 8453, rpcUrls: urls, blockTimeMs: 2_000 }
  const chainReads = createChainReads({
    chains: [chain],
    chainName: (name) => (name === 'base-mainnet' ? 'base' : name),
    timeoutMs: 1_000,
    clock,
    onError: (error, chainName, url) => {
      errors.push(error)
      failed.push(`${chainName} ${url}`)
    },
    connect: (_, url) => endpoints.get(url) as FakeEndpoint,
  })
  const reads = {
    counts: chainReads.counts,
    read: (definition: ReadDefinition, request: AttestationRequest, changes: Partial<RemoteCaller> = {}) =>
      chainReads.read(definition, request, { organizationId: 'A', deadlineMs: 25_000, ...changes }),
  }
  const [first, second] = [...endpoints.values()] as [FakeEndpoint, FakeEndpoint]
  return { clock, errors, failed, reads, first, second }
}

describe('chain reads', () => {
  test('of one turn are asked together, each once, in one block', async () => {
    const { reads, first } = create()
    const asked = [BALANCE, TOKEN, BALANCE].map((definition) => reads.read(definition, requestOf()))
    expect(await Promise.all(asked)).toEqual(['100', '100', '100'])
    expect(first.batches.map((batch) => batch.map(({ method }) => method))).toEqual([['eth_getBalance', 'eth_call']])
  })

  test('are kept until the next block', async () => {
    const { clock, reads, first } = create()
    await reads.read(BALANCE, requestOf())
    first.block = 101n
    clock.advance(1_999)
    // At hand: no promise, and nothing asked.
    expect(reads.read(BALANCE, requestOf())).toBe('100')
    expect(await reads.read(TOKEN, requestOf())).toBe('100')
    clock.advance(1)
    expect(await reads.read(BALANCE, requestOf())).toBe('101')
    expect(first.blocksAsked).toBe(2)
    // The same block again: nothing is asked twice.
    clock.advance(2_000)
    expect(await reads.read(TOKEN, requestOf())).toBe('101')
    expect(reads.read(BALANCE, requestOf())).toBe('101')
    expect(reads.counts().get('base')).toEqual({ kept: 2, answered: 4, failed: 0, refused: 0, open: false })
  })

  test('are kept without a value only if the contract gave none', async () => {
    const { reads, first } = create()
    first.answer = ({ method }) => (method === 'eth_call' ? null : undefined)
    expect(await Promise.all([reads.read(BALANCE, requestOf()), reads.read(TOKEN, requestOf())])).toEqual([null, null])
    first.answer = () => number(7n)
    expect(reads.read(TOKEN, requestOf())).toBeNull()
    expect(await reads.read(BALANCE, requestOf())).toBe('7')
  })

  test('are as old as the request for their block, however long the answer took', async () => {
    const { clock, reads, first } = create()
    const { latestBlock } = first
    first.latestBlock = async () => {
      const block = await latestBlock()
      clock.advance(1_500)
      return block
    }
    expect(await reads.read(BALANCE, requestOf())).toBe('100')
    first.block = 101n
    clock.advance(499)
    expect(reads.read(BALANCE, requestOf())).toBe('100')
    clock.advance(1)
    expect(await reads.read(BALANCE, requestOf())).toBe('101')
  })

  test('that differ in contract, arguments or type are calls of their own', () => {
    const keyOf = (definition: ReadDefinition, changes = {}) => readCallOf(definition, requestOf(changes))?.key
    const other = '0x00000000000000000000000000000000000000bb'
    const answers = (type: ReadType) => view('function f(uint256 v) view returns (uint256)', type, '7')
    const calls = [
      keyOf(TOKEN),
      keyOf(TOKEN, { from: other }),
      keyOf({ ...TOKEN, contract: other } as ReadDefinition),
      keyOf(answers('uint256')),
      keyOf(answers('int')),
      keyOf(view('function f(uint256 v) view returns (uint256)', 'uint256', '8')),
    ]
    expect(new Set(calls).size).toBe(calls.length)
    expect(keyOf(TOKEN)).toBe(calls[0])
  })

  test('of one function with different outputs have the value of their own output, in any order and while waiting', async () => {
    const text = 'blocked'
    const answer = encodeFunctionResult({ abi: parseAbi(['function s() view returns (string)']), result: text })
    const asText = view('function s() view returns (string)', 'string')
    const asBytes = view('function s() view returns (bytes32)', 'string')
    const asSmall = view('function s() view returns (uint8)', 'uint256')
    const asLarge = view('function s() view returns (uint256)', 'uint256')
    for (const definitions of [
      [asText, asBytes, asSmall, asLarge],
      [asLarge, asSmall, asBytes, asText],
    ]) {
      for (const together of [true, false]) {
        const { reads, first } = create()
        first.answer = () => answer
        const read = (definition: ReadDefinition) => reads.read(definition, requestOf())
        const values = new Map<ReadDefinition, unknown>()
        if (together) {
          const found = await Promise.all(definitions.map(read))
          for (const [index, definition] of definitions.entries()) values.set(definition, found[index])
        } else for (const definition of definitions) values.set(definition, await read(definition))
        expect(values.get(asText)).toBe(text)
        expect(values.get(asBytes)).toBe(answer.slice(0, 66))
        expect(values.get(asSmall)).toBe('32')
        expect(values.get(asLarge)).toBe('32')
      }
    }
  })

  test('go to the next RPC URL when one fails, in a block of its own', async () => {
    const { clock, reads, failed, first, second } = create(['https://a.example', 'https://b.example'])
    first.broken = true
    second.block = 99n
    expect(await reads.read(BALANCE, requestOf())).toBe('99')
    expect(failed).toEqual(['base https://a.example'])
    first.broken = false
    expect(reads.read(BALANCE, requestOf())).toBe('99')
    // What one said of a block says nothing of the other's block of the same number.
    clock.advance(2_000)
    first.block = 99n
    first.answer = () => number(7n)
    expect(await reads.read(BALANCE, requestOf())).toBe('7')
  })

  test('leave a dead URL alone within ten failures, and find it again', async () => {
    const { clock, reads, first, second } = create(['https://a.example', 'https://b.example'])
    first.broken = true
    second.broken = true
    for (let count = 0; count < 12; count++) expect(await reads.read(BALANCE, requestOf())).toBeNull()
    expect([first.blocksAsked, second.blocksAsked]).toEqual([5, 5])
    expect(reads.counts().get('base')).toEqual({ kept: 0, answered: 0, failed: 12, refused: 0, open: true })
    first.broken = false
    clock.advance(10_000)
    expect(await reads.read(BALANCE, requestOf())).toBe('100')
  })

  describe('of one organization', () => {
    const walletsOf = (count: number) =>
      Array.from({ length: count }, (_, index) => requestOf({ from: `0x${index.toString(16).padStart(40, '0')}` }))
    const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

    test('do not close a node for the others when their contract is slow', async () => {
      const { clock, reads, first } = create()
      const { readAt } = first
      let slow = 0
      first.readAt = (block, calls) => {
        if (!calls.some(({ address }) => address === CONTRACT)) return readAt(block, calls)
        slow += 1
        return Promise.reject(new Error('the request timed out'))
      }
      for (const request of walletsOf(12)) {
        // The own reads that share the batch fail too.
        expect(await Promise.all([reads.read(TOKEN, request), reads.read(BALANCE, request)])).toEqual([null, null])
        expect(await reads.read(BALANCE, request, { organizationId: 'B' })).toBe('100')
      }
      expect(slow).toBe(5)
      expect(reads.counts().get('base')).toMatchObject({ failed: 24, answered: 12, open: false })
      clock.advance(10_000)
      expect(await reads.read(TOKEN, requestOf())).toBeNull()
      expect(slow).toBe(6)
    })

    test('are asked of the next node when they fail, and the others’ stay where they were', async () => {
      const { reads, first, second } = create(['https://a.example', 'https://b.example'])
      second.answer = () => number(7n)
      await reads.read(BALANCE, requestOf(), { organizationId: 'B' })
      first.readAt = () => Promise.reject(new Error('the request timed out'))
      expect(await reads.read(TOKEN, requestOf())).toBe('7')
      expect(reads.read(BALANCE, requestOf(), { organizationId: 'B' })).toBe('100')
    })

    test('share no batch with another’s', async () => {
      const { reads, first } = create()
      const [request] = walletsOf(1)
      const asked = ['A', 'B', 'A'].map((organizationId, index) =>
        reads.read([BALANCE, TOKEN, TOKEN][index]!, request!, { organizationId }),
      )
      expect(await Promise.all(asked)).toEqual(['100', '100', '100'])
      expect(first.batches.map((batch) => batch.length)).toEqual([2, 1])
    })

    test('are bounded in how many wait and how many batches they fill, and refuse or delay no other’s', async () => {
      const { reads, first } = create()
      const { readAt } = first
      const gate = Promise.withResolvers<void>()
      let inFlight = 0
      first.readAt = async (block, calls) => {
        if (calls[0]?.address === WALLET) return readAt(block, calls)
        inFlight += 1
        await gate.promise
        return readAt(block, calls)
      }
      const asked: unknown[] = []
      for (const request of walletsOf(2_001)) {
        asked.push(reads.read(BALANCE, request))
        if (asked.length <= 40) await settled()
      }
      expect(asked.at(-1)).toBeNull()
      await settled()
      expect(inFlight).toBe(32)
      expect(await reads.read(BALANCE, requestOf(), { organizationId: 'B' })).toBe('100')
      gate.resolve()
      expect(new Set(await Promise.all(asked.slice(0, -1)))).toEqual(new Set(['100']))
      expect(Math.max(...first.batches.map(({ length }) => length))).toBe(100)
      expect(reads.counts().get('base')).toMatchObject({ answered: 2_001, refused: 1 })
    })

    test('are not sent past the deadline, unless another request waits for them', async () => {
      const { clock, reads, first } = create()
      const gate = Promise.withResolvers<bigint>()
      const { latestBlock } = first
      first.latestBlock = () => gate.promise
      const requests = walletsOf(34)
      const asked: unknown[] = []
      for (const request of requests) {
        asked.push(reads.read(BALANCE, request, { deadlineMs: 5_000 }))
        await settled()
      }
      asked.push(reads.read(BALANCE, requests[33]!))
      clock.advance(5_000)
      first.latestBlock = latestBlock
      gate.resolve(100n)
      const values = await Promise.all(asked)
      expect(values.splice(32)).toEqual([null, '100', '100'])
      expect(new Set(values)).toEqual(new Set(['100']))
      expect(reads.counts().get('base')).toMatchObject({ answered: 33, refused: 1 })
    })
  })

  test('that can’t be asked are null at once: no RPC URL, another family, no value to ask with', () => {
    const { reads, first } = create()
    expect(reads.read(BALANCE, requestOf({ chain: chainOf('ethereum') }))).toBeNull()
    expect(reads.read({ ...BALANCE, chain: 'nowhere' }, requestOf())).toBeNull()
    const solana = {
      from: 'So11111111111111111111111111111111111111112',
      chain: chainOf('solana'),
    }
    expect(reads.read(BALANCE, requestOf(solana))).toBeNull()
    expect(reads.read({ ...BALANCE, chain: 'base' }, requestOf(solana))).toBeNull()
    // 300 is no uint8: the mistake is the policy's.
    expect(reads.read(view('function f(uint8) view returns (bool)', 'bool', '300'), requestOf())).toBeNull()
    expect(first.blocksAsked).toBe(0)
  })

  test('know a chain by its other names', async () => {
    const { reads } = create()
    expect(await reads.read({ ...BALANCE, chain: 'base-mainnet' }, requestOf({ chain: chainOf('ethereum') }))).toBe(
      '100',
    )
  })
})

describe('a read', () => {
  const callOf = (definition: ReadDefinition): ReadCall => {
    const call = readCallOf(definition, requestOf())
    if (call === null) throw new Error('no call')
    return call
  }

  test('asks as the standards say', () => {
    expect(callOf(TOKEN).data).toStartWith(toFunctionSelector('balanceOf(address)'))
    const owner: ReadDefinition = { kind: 'erc721-owner', chain: null, contract: CONTRACT, tokenId: '7' }
    expect(callOf(owner).data).toBe(`${toFunctionSelector('ownerOf(uint256)')}${number(7n).slice(2)}`)
    const items: ReadDefinition = { ...TOKEN, kind: 'erc1155-balance', tokenId: '9' }
    expect(callOf(items).data).toStartWith(toFunctionSelector('balanceOf(address,uint256)'))
    expect(callOf(BALANCE)).toMatchObject({ method: 'eth_getBalance', address: WALLET })
  })

  test('asks any view function with what the request or the document has', () => {
    const signature = 'function f(address a, uint256 v, bool b, bytes4 x, string s) view returns (uint256)'
    const definition = {
      ...view(signature, 'uint256'),
      arguments: [
        { kind: 'request', fact: 'target.address' },
        { kind: 'request', fact: 'tx.value' },
        { kind: 'literal', value: true },
        { kind: 'literal', value: '0x01020304' },
        { kind: 'literal', value: 'text' },
      ],
    } as ReadDefinition
    const { data } = callOf(definition)
    expect(data).toContain(CONTRACT.slice(2))
    expect(data).toContain('01020304')
    expect(callOf(view('function f(int8) view returns (uint256)', 'uint256', '-1')).data).toEndWith('f'.repeat(64))
  })

  test('has a value of the type that the policy was checked with, or none', () => {
    const decode = (returns: string, type: ReadType, value: unknown): unknown => {
      const abi = parseAbi([`function f() view returns (${returns})`])
      const data = encodeFunctionResult({ abi, functionName: 'f', result: value as never })
      return callOf(view(`function f() view returns (${returns})`, type)).decode(data)
    }
    const maximum = 2n ** 256n - 1n
    expect(decode('uint256', 'uint256', maximum)).toBe(maximum.toString())
    expect(decode('uint8', 'uint256', 7)).toBe('7')
    expect(decode('int64', 'int', -(2n ** 63n))).toBe('-9223372036854775808')
    expect(decode('int256', 'int', 2n ** 63n)).toBeNull()
    expect(decode('bool', 'bool', false)).toBe(false)
    expect(decode('address', 'address', '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045')).toBe(
      '0xd8da6bf26964af9d7eed9e03e53415d37aa96045',
    )
    expect(decode('string', 'string', 'ünï')).toBe('ünï')
    expect(decode('string', 'string', 'x'.repeat(1_025))).toBeNull()
    expect(decode('bytes4', 'string', '0x01020304')).toBe('0x01020304')
    expect(decode('bool', 'uint256', true)).toBeNull()
  })

  test('has none where there is no contract, or one that answers something else', () => {
    for (const answer of ['0x', '0x01', `0x${'ff'.repeat(31)}`] as const)
      expect(callOf(TOKEN).decode(answer)).toBeNull()
    expect(callOf(BALANCE).decode('0x')).toBeNull()
    expect(callOf(BALANCE).decode('0xde0b6b3a7640000')).toBe('1000000000000000000')
  })
})
