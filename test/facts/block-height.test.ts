// The latest block: kept for a block time, read once for all who ask, and never from a node that stalls or makes it up.
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
const keep = <Node extends { stop(): Promise<void> }>(node: Node): Node => {
  started.push(node)
  return node
}

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

describe('the latest block', () => {
  test('is read once for all who ask, and again after a block time', async () => {
    let height = 0x10
    const node = keep(startFakeNode(() => `0x${height.toString(16)}`))
    const { clock, source } = create([node.url])
    expect(await Promise.all([source.latest(), source.latest()])).toEqual([16, 16])
    height = 0x11
    expect(await source.latest()).toBe(16)
    clock.advance(2_000)
    expect(await source.latest()).toBe(17)
    expect(node.calls.map(({ method }) => method)).toEqual(['eth_blockNumber', 'eth_blockNumber'])
  })

  test('is as old as its question, however long the answer took', async () => {
    let height = 0x10
    const { clock, source } = create([
      keep(
        startFakeNode(() => {
          clock.advance(1_500)
          return `0x${height.toString(16)}`
        }),
      ).url,
    ])
    expect(await source.latest()).toBe(16)
    height = 0x11
    clock.advance(499)
    expect(source.known()).toBe(16)
    clock.advance(1)
    expect(source.known()).toBeNull()
    expect(await source.latest()).toBe(17)
  })

  test('comes from the next URL when one stalls in the middle of its answer', async () => {
    const stalled = keep(startStalledNode('{"jsonrpc":"2.0","id":1,"result":"0x'))
    const node = keep(startFakeNode(() => '0x20'))
    expect(await create([stalled.url, node.url], 200).source.latest()).toBe(32)
    // No connection is left behind.
    await stalled.left
  })

  test('is the lower height of two URLs, so that one lying URL can’t extend a signature', async () => {
    const lying = keep(startFakeNode(() => '0x1000000'))
    const honest = keep(startFakeNode(() => '0x20'))
    expect(await create([lying.url, honest.url]).source.latest()).toBe(32)
    expect(await create([honest.url, lying.url]).source.latest()).toBe(32)
  })

  test('is refused if no chain can have reached it', async () => {
    const node = keep(startFakeNode(() => '0x10000000000000'))
    expect(await reasonOf(create([node.url]).source.latest())).toBe(
      'the RPC endpoint reported an implausibly high block number',
    )
  })

  test('is refused if it grew faster than blocks come', async () => {
    let height = 1_000
    const node = keep(startFakeNode(() => `0x${height.toString(16)}`))
    const { clock, source } = create([node.url])
    expect(await source.latest()).toBe(1_000)
    clock.advance(10_000)
    height = 1_000 + 64 + 20 + 1
    expect(await reasonOf(source.latest())).toBe('the RPC endpoint reported an implausibly high block number')
    height -= 1
    expect(await source.latest()).toBe(height)
    // A node that has caught up would otherwise be refused for hours.
    height = 1_000_000
    clock.advance(600_001)
    expect(await source.latest()).toBe(1_000_000)
  })

  test('is not a known setting when every URL stalls, in the time they were given', async () => {
    const stalled = keep(startStalledNode('{'))
    expect(await reasonOf(create([stalled.url], 100).source.latest())).toBe('the request timed out')
  })

  test.each([
    ['no text', 16],
    ['nothing', null],
    ['no digits', '0x'],
    ['decimal', '16'],
    ['negative', '-0x1'],
    ['past what JSON holds', '0x20000000000000'],
    ['not a number', '0xzz'],
  ])('is not taken from what no node answers: %s', async (_, answer) => {
    const node = keep(startFakeNode(() => answer))
    expect(await reasonOf(create([node.url]).source.latest())).toBe('the RPC endpoint returned an invalid response')
  })

  test('is not sought where a node redirects', async () => {
    const goal = keep(startFakeNode(() => '0x20'))
    const node = keep(
      startFakeNode(() => new RawAnswer(new Response(null, { status: 307, headers: { location: goal.url } }))),
    )
    expect(await reasonOf(create([node.url]).source.latest())).toStartWith('the server redirects (307)')
    expect(goal.calls).toEqual([])
  })
})
