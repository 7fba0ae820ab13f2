// JSON-RPC to nodes that are dead, slow, huge or make things up: an error each time, in bounded time and memory, and
// nothing of what they said in it.
import { afterEach, describe, expect, test } from 'bun:test'
import { FetchFailedError } from '../../src/facts/guarded-fetch.ts'
import { createJsonRpc, RpcFailedError } from '../../src/facts/json-rpc.ts'
import { freePort } from '../service/start-service.ts'
import { type FakeNode, RawAnswer, Refusal, startFakeNode } from './support.ts'

const nodes: FakeNode[] = []
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.stop()
})

const start = (answer: Parameters<typeof startFakeNode>[0]): FakeNode => {
  const node = startFakeNode(answer)
  nodes.push(node)
  return node
}
const failure = async (answer: Parameters<typeof startFakeNode>[0], timeoutMs = 5_000): Promise<Error> =>
  (await createJsonRpc({ url: start(answer).url, timeoutMs })
    .request('eth_chainId', [])
    .then(
      () => expect.unreachable(),
      (error: unknown) => error,
    )) as Error

const drip = (first: string): Response =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(first)),
    }),
    { headers: { 'content-type': 'application/json' } },
  )

describe('createJsonRpc', () => {
  test('asks as JSON-RPC 2.0 does, and gives the result as it is', async () => {
    const node = start(({ method, params }) => ({ method, params }))
    const rpc = createJsonRpc({ url: node.url, timeoutMs: 5_000 })
    expect(await rpc.request('eth_call', [{ to: '0x' }, 'latest'])).toEqual({
      method: 'eth_call',
      params: [{ to: '0x' }, 'latest'],
    })
    expect(await rpc.request('eth_chainId', [])).toMatchObject({ method: 'eth_chainId' })
  })

  test('fails on a dead node', async () => {
    const rpc = createJsonRpc({ url: `http://127.0.0.1:${freePort()}`, timeoutMs: 5_000 })
    expect(await rpc.request('eth_chainId', []).catch((error: unknown) => error)).toBeInstanceOf(FetchFailedError)
  })

  test('fails on a node that begins to answer and does not end, in the time it was given', async () => {
    const error = await failure(() => new RawAnswer(drip('{"jsonrpc":"2.0",')), 100)
    expect((error as FetchFailedError).detail).toBe('the request timed out')
  })

  test('fails on a node that says nothing, in the time it was given', async () => {
    const silent = Promise.withResolvers<void>()
    const error = await failure(() => silent.promise, 100)
    expect((error as FetchFailedError).detail).toBe('the request timed out')
    silent.resolve()
  })

  test('stops reading what is too much', async () => {
    const error = await failure(() => 'x'.repeat(2_000_000))
    expect((error as FetchFailedError).detail).toContain('bytes')
  })

  test('follows no redirect', async () => {
    const elsewhere = start(() => '0x2105')
    const error = await failure(() => new RawAnswer(Response.redirect(elsewhere.url, 307)))
    expect((error as FetchFailedError).detail).toContain('redirect')
    expect(elsewhere.calls).toEqual([])
  })

  test.each([
    ['words', () => new RawAnswer(new Response('<html>'))],
    ['another status', () => new RawAnswer(new Response('{}', { status: 500 }))],
    ['another question’s answer', () => new RawAnswer(Response.json({ jsonrpc: '2.0', id: 7, result: '0x1' }))],
    ['no result', () => new RawAnswer(Response.json({ jsonrpc: '2.0', id: 1 }))],
    ['null', () => new RawAnswer(Response.json(null))],
    ['a refusal', () => new Refusal(-32000)],
  ])('fails on %s, without repeating it', async (_, answer) => {
    const error = await failure(answer)
    expect(error instanceof RpcFailedError || error instanceof FetchFailedError).toBe(true)
    expect(`${error.message} ${(error as RpcFailedError).detail}`).not.toMatch(/html|secret/)
  })

  test('gives the answers of a batch in the order of its calls, and none for a call that the node left out', async () => {
    const [first, third] = [
      { id: 1, result: 'first' },
      { id: 3, error: { code: 3 } },
    ]
    const node = start(() => new RawAnswer(Response.json([third, null, first])))
    const rpc = createJsonRpc({ url: node.url, timeoutMs: 5_000 })
    const calls = Array.from({ length: 3 }, () => ({ method: 'eth_call', params: [] }))
    expect(await rpc.batch(calls)).toEqual([first, undefined, third])
  })

  test('fails on a node that answers a batch as a whole', async () => {
    const node = start(() => new Refusal(-32_600))
    const batch = createJsonRpc({ url: node.url, timeoutMs: 5_000 }).batch([{ method: 'eth_call', params: [] }])
    expect(await batch.catch((error: unknown) => error)).toBeInstanceOf(RpcFailedError)
  })
})
