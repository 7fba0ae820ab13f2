// JSON-RPC calls to stopped, slow and invalid nodes: each fails in bounded time and memory, without text from the node.
import { afterEach, describe, expect, test } from 'bun:test'
import { FetchFailedError } from '../../src/facts/guarded-fetch.ts'
import { createJsonRpc, RpcFailedError } from '../../src/facts/json-rpc.ts'
import { freePort } from '../service/start-service.ts'
import { type FakeNode, failureOf, RawAnswer, Refusal, startFakeNode } from './support.ts'

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
  (await failureOf(createJsonRpc({ url: start(answer).url, timeoutMs }).request('eth_chainId', []))) as Error

const endless = (first: string): Response =>
  new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(first)) }), {
    headers: { 'content-type': 'application/json' },
  })

describe('createJsonRpc', () => {
  test('sends JSON-RPC 2.0 and returns the result unchanged', async () => {
    const node = start(({ method, params }) => ({ method, params }))
    const rpc = createJsonRpc({ url: node.url, timeoutMs: 5_000 })
    expect(await rpc.request('eth_call', [{ to: '0x' }, 'latest'])).toEqual({
      method: 'eth_call',
      params: [{ to: '0x' }, 'latest'],
    })
    expect(await rpc.request('eth_chainId', [])).toMatchObject({ method: 'eth_chainId' })
  })

  test('fails if the node is stopped', async () => {
    const rpc = createJsonRpc({ url: `http://127.0.0.1:${freePort()}`, timeoutMs: 5_000 })
    expect(await failureOf(rpc.request('eth_chainId', []))).toBeInstanceOf(FetchFailedError)
  })

  test.each([
    ['never finishes its response', () => new RawAnswer(endless('{"jsonrpc":"2.0",'))],
    ['never responds', () => new Promise(() => undefined)],
  ])('times out if the node %s', async (_, answer) => {
    expect(await failure(answer, 100)).toMatchObject({ detail: 'the request timed out' })
  })

  test('stops reading a response that is too long', async () => {
    const error = await failure(() => 'x'.repeat(2_000_000))
    expect((error as FetchFailedError).detail).toContain('bytes')
  })

  test('does not follow redirects', async () => {
    const elsewhere = start(() => '0x2105')
    const error = await failure(() => new RawAnswer(Response.redirect(elsewhere.url, 307)))
    expect((error as FetchFailedError).detail).toContain('redirect')
    expect(elsewhere.calls).toEqual([])
  })

  test.each([
    ['text', () => new RawAnswer(new Response('<html>'))],
    ['another status', () => new RawAnswer(new Response('{}', { status: 500 }))],
    ['the response to another call', () => new RawAnswer(Response.json({ jsonrpc: '2.0', id: 7, result: '0x1' }))],
    ['no result', () => new RawAnswer(Response.json({ jsonrpc: '2.0', id: 1 }))],
    ['null', () => new RawAnswer(Response.json(null))],
    ['an error', () => new Refusal(-32000)],
  ])('fails on %s without repeating it', async (_, answer) => {
    const error = await failure(answer)
    expect(error instanceof RpcFailedError || error instanceof FetchFailedError).toBe(true)
    expect(`${error.message} ${(error as RpcFailedError).detail}`).not.toMatch(/html|secret/)
  })

  test('returns the results of a batch in the order of its calls, and undefined for a missing result', async () => {
    const first = { id: 1, result: 'first' }
    const third = { id: 3, error: { code: 3 } }
    const node = start(() => new RawAnswer(Response.json([third, null, first])))
    const rpc = createJsonRpc({ url: node.url, timeoutMs: 5_000 })
    const calls = Array.from({ length: 3 }, () => ({ method: 'eth_call', params: [] }))
    expect(await rpc.batch(calls)).toEqual([first, undefined, third])
  })

  test('fails if the node returns one error for a batch', async () => {
    const node = start(() => new Refusal(-32_600))
    const batch = createJsonRpc({ url: node.url, timeoutMs: 5_000 }).batch([{ method: 'eth_call', params: [] }])
    expect(await failureOf(batch)).toBeInstanceOf(RpcFailedError)
  })
})
