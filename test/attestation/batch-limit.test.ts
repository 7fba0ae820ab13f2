// A batch pays for its elements, also for those over the limit of the key.
import { expect, test } from 'bun:test'
import { createBatchEndpoint } from '../../src/attestation/batch-endpoint.ts'
import { createChainTable } from '../../src/domain/chain.ts'
import type { Gate } from '../../src/server/gate.ts'
import { createRateLimiter, RateExceededError } from '../../src/server/rate-limit.ts'

const open = (requestsPerSecond: number, burst: number) => {
  let nowMs = 0
  const clock = { monotonicMs: () => nowMs, unixSeconds: () => 0 }
  let handle: Parameters<Gate>[1] | undefined
  const gate: Gate = (_route, admitted) => {
    handle = admitted
    return async () => new Response()
  }
  const principal = {
    organizationId: 'org_a',
    environment: 'live',
    keyId: 'key_a',
    kind: 'attestation',
    rateLimit: { requestsPerSecond, burst },
  } as const
  const codes: string[] = []
  createBatchEndpoint({
    gate,
    idempotent: () => Promise.reject(new Error('no element is an object')),
    metrics: { recordDecision: () => undefined, recordError: (code) => void codes.push(code) },
    pool: { withhold: () => undefined, refusal: () => null },
    concurrency: null,
    storeBacklogMs: () => 0,
    chains: createChainTable([]),
    clock,
    limiter: createRateLimiter({ clock }),
    after: () => () => undefined,
    report: () => undefined,
    decode: () => {
      throw new Error('no element is an object')
    },
    attest: () => Promise.reject(new Error('no element is an object')),
  })
  const send = async (elements: number): Promise<readonly { index: number; status: number }[]> => {
    const body = JSON.stringify({ requests: Array(elements).fill(0) })
    if (handle === undefined) throw new Error('the endpoint has no gate')
    const response = await handle({
      request: new Request('http://127.0.0.1/', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      }),
      requestId: 'request_1',
      principal,
      rateLimit: null,
      deadline: { deadlineMs: nowMs + 10_000, passed: false },
      ended: new AbortController().signal,
      confirmKey: () => undefined,
    })
    const { answers } = (await response.json()) as { answers: { index: number; status: number }[] }
    return answers
  }
  return { send, codes, pass: (ms: number) => (nowMs += ms) }
}

test('a call whose key has no token for each twenty elements is refused as a whole', async () => {
  const { send, codes, pass } = open(100, 100)
  const answers = await send(1_000)
  expect(answers.map(({ index }) => index)).toEqual(Array.from({ length: 1_000 }, (_, index) => index))
  expect(answers.filter(({ status }) => status === 400)).toHaveLength(101)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(899)
  expect(codes).toHaveLength(1_000)
  pass(490)
  expect(send(1_000)).rejects.toThrow(RateExceededError)
  pass(10)
  expect((await send(1_000)).filter(({ status }) => status === 400)).toHaveLength(51)
})

test('a call of any size is answered if the key’s burst is there', async () => {
  expect((await open(1, 5).send(1_000)).filter(({ status }) => status === 400)).toHaveLength(6)
  expect((await open(1, 1).send(40)).filter(({ status }) => status === 400)).toHaveLength(2)
})
