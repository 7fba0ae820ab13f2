// Reads of chain state from fake endpoints: batches, caching, failover, and the isolation of organizations.
import { describe, expect, test } from 'bun:test'
import { encodeFunctionResult, type Hex, parseAbi, parseAbiItem, toFunctionSelector } from 'viem'

import type { CallAnswer, ChainEndpoint } from '../../src/facts/chain-endpoint.ts'
import { createChainReads, type ReadableChain } from '../../src/facts/chain-reads.ts'
import { type ReadCall, readCallOf } from '../../src/facts/read-call.ts'
import type { RemoteCaller } from '../../src/facts/remote.ts'
import type { AbiFunctionItem, ReadDefinition, ReadType, ReadValue } from '../../src/policy/types/reads.ts'
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
  isDown: boolean
  answer: (call: ReadCall, block: bigint) => CallAnswer
  readonly batches: ReadCall[][]
  blockQueries: number
}

const createEndpoint = (): FakeEndpoint => {
  const endpoint: FakeEndpoint = {
    block: 100n,
    isDown: false,
    answer: (_, block) => number(block),
    batches: [],
    blockQueries: 0,
    latestBlock: async () => {
      endpoint.blockQueries += 1
      if (endpoint.isDown) throw new Error('down')
      return endpoint.block
    },
    readAt: async (block, calls) => {
      if (endpoint.isDown) throw new Error('down')
      endpoint.batches.push([...calls])
      return calls.map((call) => endpoint.answer(call, block))
    },
  }
  return endpoint
}
const TWO_URLS = ['https://a.example', 'https://b.example']

const create = (urls = ['https://a.example']) => {
  const clock = createManualClock()
  const failed: string[] = []
  const endpoints = new Map(urls.map((url) => [url, createEndpoint()]))
  const chain: ReadableChain = { name: 'base', chainId: 8453, rpcUrls: urls, blockTimeMs: 2_000 }
  const reads = createChainReads({
    chains: [chain],
    chainName: (name) => (name === 'base-mainnet' ? 'base' : name),
    timeoutMs: 1_000,
    clock,
    onError: (_error, chainName, url) => failed.push(`${chainName} ${url}`),
    connect: (_, url) => endpoints.get(url) as FakeEndpoint,
  })
  const read = (definition: ReadDefinition, request = requestOf(), changes: Partial<RemoteCaller> = {}) =>
    reads.read(definition, request, { organizationId: 'A', deadlineMs: 25_000, ...changes })
  const [first, second] = [...endpoints.values()] as [FakeEndpoint, FakeEndpoint]
  return { clock, failed, read, counts: () => reads.counts().get('base'), first, second }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('chain reads', () => {
  test('of one turn of the event loop share a batch and a block, without duplicates', async () => {
    const { read, first } = create()
    expect(await Promise.all([BALANCE, TOKEN, BALANCE].map((each) => read(each)))).toEqual(['100', '100', '100'])
    expect(first.batches.map((batch) => batch.map(({ method }) => method))).toEqual([['eth_getBalance', 'eth_call']])
  })

  test('are cached until the next block', async () => {
    const { clock, read, counts, first } = create()
    await read(BALANCE)
    first.block = 101n
    clock.advance(1_999)
    expect(read(BALANCE)).toBe('100')
    expect(await read(TOKEN)).toBe('100')
    clock.advance(1)
    expect(await read(BALANCE)).toBe('101')
    expect(first.blockQueries).toBe(2)
    // Cached values of the same block remain valid.
    clock.advance(2_000)
    expect(await read(TOKEN)).toBe('101')
    expect(read(BALANCE)).toBe('101')
    expect(counts()).toEqual({ kept: 2, answered: 4, failed: 0, refused: 0, open: false })
  })

  test('are cached without a value only if the contract returned none', async () => {
    const { read, first } = create()
    first.answer = ({ method }) => (method === 'eth_call' ? null : undefined)
    expect(await Promise.all([read(BALANCE), read(TOKEN)])).toEqual([null, null])
    first.answer = () => number(7n)
    expect(read(TOKEN)).toBeNull()
    expect(await read(BALANCE)).toBe('7')
  })

  test('age from the query of their block, not from its response', async () => {
    const { clock, read, first } = create()
    const { latestBlock } = first
    first.latestBlock = async () => {
      const block = await latestBlock()
      clock.advance(1_500)
      return block
    }
    expect(await read(BALANCE)).toBe('100')
    first.block = 101n
    clock.advance(499)
    expect(read(BALANCE)).toBe('100')
    clock.advance(1)
    expect(await read(BALANCE)).toBe('101')
  })

  test('with other contracts, arguments or types are other calls', () => {
    const keyOf = (definition: ReadDefinition, changes = {}) => readCallOf(definition, requestOf(changes))?.key
    const other = '0x00000000000000000000000000000000000000bb'
    const answers = (type: ReadType, value = '7') => view('function f(uint256 v) view returns (uint256)', type, value)
    const calls = [
      keyOf(TOKEN),
      keyOf(TOKEN, { from: other }),
      keyOf({ ...TOKEN, contract: other } as ReadDefinition),
      keyOf(answers('uint256')),
      keyOf(answers('int')),
      keyOf(answers('uint256', '8')),
    ]
    expect(new Set(calls).size).toBe(calls.length)
    expect(keyOf(TOKEN)).toBe(calls[0])
  })

  test.each([true, false])(
    'of one function decode their own output types, in any order; together: %p',
    async (together) => {
      const answer = encodeFunctionResult({ abi: parseAbi(['function s() view returns (string)']), result: 'blocked' })
      const expected = new Map<ReadDefinition, unknown>([
        [view('function s() view returns (string)', 'string'), 'blocked'],
        [view('function s() view returns (bytes32)', 'string'), answer.slice(0, 66)],
        [view('function s() view returns (uint8)', 'uint256'), '32'],
        [view('function s() view returns (uint256)', 'uint256'), '32'],
      ])
      for (const definitions of [[...expected.keys()], [...expected.keys()].toReversed()]) {
        const { read, first } = create()
        first.answer = () => answer
        const values: unknown[] = []
        if (together) values.push(...(await Promise.all(definitions.map((definition) => read(definition)))))
        else for (const definition of definitions) values.push(await read(definition))
        expect(values).toEqual(definitions.map((definition) => expected.get(definition)))
      }
    },
  )

  test('fail over to the next RPC URL and its own block', async () => {
    const { clock, read, failed, first, second } = create(TWO_URLS)
    first.isDown = true
    second.block = 99n
    expect(await read(BALANCE)).toBe('99')
    expect(failed).toEqual(['base https://a.example'])
    first.isDown = false
    expect(read(BALANCE)).toBe('99')
    // A block of the first URL with the same number can have other values.
    clock.advance(2_000)
    first.block = 99n
    first.answer = () => number(7n)
    expect(await read(BALANCE)).toBe('7')
  })

  test('do not use a failing URL for some time', async () => {
    const { clock, read, counts, first, second } = create(TWO_URLS)
    first.isDown = true
    second.isDown = true
    for (let count = 0; count < 12; count++) expect(await read(BALANCE)).toBeNull()
    expect([first.blockQueries, second.blockQueries]).toEqual([5, 5])
    expect(counts()).toEqual({ kept: 0, answered: 0, failed: 12, refused: 0, open: true })
    first.isDown = false
    clock.advance(10_000)
    expect(await read(BALANCE)).toBe('100')
  })

  test('are null without a query if the chain or an argument is unusable', () => {
    const { read, first } = create()
    expect(read(BALANCE, requestOf({ chain: chainOf('ethereum') }))).toBeNull()
    expect(read({ ...BALANCE, chain: 'nowhere' })).toBeNull()
    const solana = { from: 'So11111111111111111111111111111111111111112', chain: chainOf('solana') }
    expect(read(BALANCE, requestOf(solana))).toBeNull()
    expect(read({ ...BALANCE, chain: 'base' }, requestOf(solana))).toBeNull()
    // The policy is wrong: 300 exceeds uint8.
    expect(read(view('function f(uint8) view returns (bool)', 'bool', '300'))).toBeNull()
    expect(first.blockQueries).toBe(0)
  })

  test('accept alternative names of a chain', async () => {
    const { read } = create()
    expect(await read({ ...BALANCE, chain: 'base-mainnet' }, requestOf({ chain: chainOf('ethereum') }))).toBe('100')
  })
})

describe('chain reads of one organization', () => {
  const walletsOf = (count: number) =>
    Array.from({ length: count }, (_, index) => requestOf({ from: `0x${index.toString(16).padStart(40, '0')}` }))
  const B = { organizationId: 'B' }

  test('do not block a node for other organizations if their contract is slow', async () => {
    const { clock, read, counts, first } = create()
    const { readAt } = first
    let slow = 0
    first.readAt = (block, calls) => {
      if (!calls.some(({ address }) => address === CONTRACT)) return readAt(block, calls)
      slow += 1
      return Promise.reject(new Error('the request timed out'))
    }
    for (const request of walletsOf(12)) {
      // Reads of the same organization in the batch fail as well.
      expect(await Promise.all([read(TOKEN, request), read(BALANCE, request)])).toEqual([null, null])
      expect(await read(BALANCE, request, B)).toBe('100')
    }
    expect(slow).toBe(5)
    expect(counts()).toMatchObject({ failed: 24, answered: 12, open: false })
    clock.advance(10_000)
    expect(await read(TOKEN)).toBeNull()
    expect(slow).toBe(6)
  })

  test('fail over without affecting those of other organizations', async () => {
    const { read, first, second } = create(TWO_URLS)
    second.answer = () => number(7n)
    await read(BALANCE, requestOf(), B)
    first.readAt = () => Promise.reject(new Error('the request timed out'))
    expect(await read(TOKEN)).toBe('7')
    expect(read(BALANCE, requestOf(), B)).toBe('100')
  })

  test('have their own batches', async () => {
    const { read, first } = create()
    const [request] = walletsOf(1)
    const values = [read(BALANCE, request), read(TOKEN, request, B), read(TOKEN, request)]
    expect(await Promise.all(values)).toEqual(['100', '100', '100'])
    expect(first.batches.map((batch) => batch.length)).toEqual([2, 1])
  })

  test('have a bounded queue and number of batches, and do not refuse or delay others', async () => {
    const { read, counts, first } = create()
    const { readAt } = first
    const gate = Promise.withResolvers<void>()
    let inFlight = 0
    first.readAt = async (block, calls) => {
      if (calls[0]?.address === WALLET) return readAt(block, calls)
      inFlight += 1
      await gate.promise
      return readAt(block, calls)
    }
    const values: unknown[] = []
    for (const request of walletsOf(2_001)) {
      values.push(read(BALANCE, request))
      if (values.length <= 40) await settled()
    }
    expect(values.at(-1)).toBeNull()
    await settled()
    expect(inFlight).toBe(32)
    expect(await read(BALANCE, requestOf(), B)).toBe('100')
    gate.resolve()
    expect(new Set(await Promise.all(values.slice(0, -1)))).toEqual(new Set(['100']))
    expect(Math.max(...first.batches.map(({ length }) => length))).toBe(100)
    expect(counts()).toMatchObject({ answered: 2_001, refused: 1 })
  })

  test('are not sent after their deadline, unless another request waits for them', async () => {
    const { clock, read, counts, first } = create()
    const gate = Promise.withResolvers<bigint>()
    const { latestBlock } = first
    first.latestBlock = () => gate.promise
    const requests = walletsOf(34)
    const pending: unknown[] = []
    for (const request of requests) {
      pending.push(read(BALANCE, request, { deadlineMs: 5_000 }))
      await settled()
    }
    pending.push(read(BALANCE, requests[33]!))
    clock.advance(5_000)
    first.latestBlock = latestBlock
    gate.resolve(100n)
    const values = await Promise.all(pending)
    expect(values.splice(32)).toEqual([null, '100', '100'])
    expect(new Set(values)).toEqual(new Set(['100']))
    expect(counts()).toMatchObject({ answered: 33, refused: 1 })
  })
})

describe('a read', () => {
  const callOf = (definition: ReadDefinition): ReadCall => {
    const call = readCallOf(definition, requestOf())
    if (call === null) throw new Error('no call')
    return call
  }

  test('calls the functions of the standards', () => {
    expect(callOf(TOKEN).data).toStartWith(toFunctionSelector('balanceOf(address)'))
    const owner: ReadDefinition = { kind: 'erc721-owner', chain: null, contract: CONTRACT, tokenId: '7' }
    expect(callOf(owner).data).toBe(`${toFunctionSelector('ownerOf(uint256)')}${number(7n).slice(2)}`)
    const items: ReadDefinition = { ...TOKEN, kind: 'erc1155-balance', tokenId: '9' }
    expect(callOf(items).data).toStartWith(toFunctionSelector('balanceOf(address,uint256)'))
    expect(callOf(BALANCE)).toMatchObject({ method: 'eth_getBalance', address: WALLET })
  })

  test('calls any view function with values of the request and the document', () => {
    const fact = (name: string) => ({ kind: 'request', fact: name }) as const
    const literal = (value: string | boolean) => ({ kind: 'literal', value }) as const
    const signature = 'function f(address a, uint256 v, bool b, bytes4 x, string s) view returns (uint256)'
    const { data } = callOf({
      ...view(signature, 'uint256'),
      arguments: [fact('target.address'), fact('tx.value'), literal(true), literal('0x01020304'), literal('text')],
    } as ReadDefinition)
    expect(data).toContain(CONTRACT.slice(2))
    expect(data).toContain('01020304')
    expect(callOf(view('function f(int8) view returns (uint256)', 'uint256', '-1')).data).toEndWith('f'.repeat(64))
  })

  const maximum = 2n ** 256n - 1n
  const mixedCase = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
  test.each<[string, ReadType, unknown, unknown]>([
    ['uint256', 'uint256', maximum, maximum.toString()],
    ['uint8', 'uint256', 7, '7'],
    ['int64', 'int', -(2n ** 63n), '-9223372036854775808'],
    ['int256', 'int', 2n ** 63n, null],
    ['bool', 'bool', false, false],
    ['address', 'address', mixedCase, mixedCase.toLowerCase()],
    ['string', 'string', 'ünï', 'ünï'],
    ['string', 'string', 'x'.repeat(1_025), null],
    ['bytes4', 'string', '0x01020304', '0x01020304'],
    ['bool', 'uint256', true, null],
  ])('decodes %s for a policy that expects %s: %p', (returns, type, value, expected) => {
    const abi = parseAbi([`function f() view returns (${returns})`])
    const data = encodeFunctionResult({ abi, functionName: 'f', result: value as never })
    expect(callOf(view(`function f() view returns (${returns})`, type)).decode(data)).toEqual(expected as ReadValue)
  })

  test('has no value without a contract, or with a response of another type', () => {
    for (const answer of ['0x', '0x01', `0x${'ff'.repeat(31)}`] as const)
      expect(callOf(TOKEN).decode(answer)).toBeNull()
    expect(callOf(BALANCE).decode('0x')).toBeNull()
    expect(callOf(BALANCE).decode('0xde0b6b3a7640000')).toBe('1000000000000000000')
  })
})
