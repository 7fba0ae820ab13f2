// The latest block: cached for one block time, read once for concurrent requests, and not from stalled or lying nodes.
import { afterEach, describe, expect, test } from 'bun:test'
import { DependencyUnavailableError } from '../../src/domain/errors.ts'
import { createBlockHeightSource } from '../../src/facts/block-height.ts'
import { failureReason } from '../../src/facts/failure-reason.ts'
import { RawAnswer, startFakeNode } from '../registry/support.ts'
import { createManualClock } from '../server/manual-clock.ts'
import { startStalledNode } from './stalled-node.ts'

const started: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const node of started.splice(0)) await node.stop()
})
const register = <Node extends { stop(): Promise<void> }>(node: Node): Node => {
  started.push(node)
  return node
}
const startNode = (answer: () => unknown) => register(startFakeNode(answer))

const create = (rpcUrls: readonly string[], timeoutMs = 5_000) => {
  const clock = createManualClock()
  const source = createBlockHeightSource({ chainName: 'base', rpcUrls, blockTimeMs: 2_000, timeoutMs, clock })
  return { clock, source }
}

const reasonOf = async (height: Promise<number>): Promise<string> => {
  const error = await height.then(
    () => expect.unreachable(),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(DependencyUnavailableError)
  return failureReason(error)
}
const IMPLAUSIBLE = 'the RPC endpoint reported an implausibly high block number'

describe('the latest block', () => {
  test('is read once for concurrent requests, and again after a block time', async () => {
    let height = 0x10
    const node = startNode(() => `0x${height.toString(16)}`)
    const { clock, source } = create([node.url])
    expect(await Promise.all([source.latest(), source.latest()])).toEqual([16, 16])
    height = 0x11
    expect(await source.latest()).toBe(16)
    clock.advance(2_000)
    expect(await source.latest()).toBe(17)
    expect(node.calls.map(({ method }) => method)).toEqual(['eth_blockNumber', 'eth_blockNumber'])
  })

  test('ages from its query, not from its response', async () => {
    let height = 0x10
    const node = startNode(() => {
      clock.advance(1_500)
      return `0x${height.toString(16)}`
    })
    const { clock, source } = create([node.url])
    expect(await source.latest()).toBe(16)
    height = 0x11
    clock.advance(499)
    expect(source.known()).toBe(16)
    clock.advance(1)
    expect(source.known()).toBeNull()
    expect(await source.latest()).toBe(17)
  })

  test('comes from the next URL if a node stalls during its response', async () => {
    const stalled = register(startStalledNode('{"jsonrpc":"2.0","id":1,"result":"0x'))
    const node = startNode(() => '0x20')
    expect(await create([stalled.url, node.url], 200).source.latest()).toBe(32)
    await stalled.left
  })

  test('is the lower height of two URLs, so that one lying URL cannot extend a signature', async () => {
    const [lying, honest] = [startNode(() => '0x1000000'), startNode(() => '0x20')]
    for (const nodes of [
      [lying, honest],
      [honest, lying],
    ]) {
      expect(await create(nodes.map(({ url }) => url)).source.latest()).toBe(32)
    }
  })

  test('is rejected if no chain can have that height', async () => {
    const node = startNode(() => '0x10000000000000')
    expect(await reasonOf(create([node.url]).source.latest())).toBe(IMPLAUSIBLE)
  })

  test('is rejected if it grew faster than the block time allows', async () => {
    let height = 1_000
    const node = startNode(() => `0x${height.toString(16)}`)
    const { clock, source } = create([node.url])
    expect(await source.latest()).toBe(1_000)
    clock.advance(10_000)
    height = 1_000 + 64 + 20 + 1
    expect(await reasonOf(source.latest())).toBe(IMPLAUSIBLE)
    height -= 1
    expect(await source.latest()).toBe(height)
    // Otherwise, a node that caught up would be refused for hours.
    height = 1_000_000
    clock.advance(600_001)
    expect(await source.latest()).toBe(1_000_000)
  })

  test('is unavailable within the time limit if every URL stalls', async () => {
    const stalled = register(startStalledNode('{'))
    expect(await reasonOf(create([stalled.url], 100).source.latest())).toBe('the request timed out')
  })

  test.each([
    ['a number', 16],
    ['null', null],
    ['no digits', '0x'],
    ['decimal digits', '16'],
    ['a negative number', '-0x1'],
    ['more than JSON numbers hold', '0x20000000000000'],
    ['other letters', '0xzz'],
  ])('is refused as %s', async (_, answer) => {
    const node = startNode(() => answer)
    expect(await reasonOf(create([node.url]).source.latest())).toBe('the RPC endpoint returned an invalid response')
  })

  test('is not read from the target of a redirect', async () => {
    const target = startNode(() => '0x20')
    const redirect = new Response(null, { status: 307, headers: { location: target.url } })
    const node = startNode(() => new RawAnswer(redirect))
    expect(await reasonOf(create([node.url]).source.latest())).toStartWith('the server redirects (307)')
    expect(target.calls).toEqual([])
  })
})
