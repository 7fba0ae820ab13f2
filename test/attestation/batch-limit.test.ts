// The rate limit of batches, which are charged for all elements, including refused elements.
import { expect, test } from 'bun:test'
import { createBatchEndpoint } from '../../src/attestation/batch-endpoint.ts'
import { createRateLimiter, RateExceededError } from '../../src/server/rate-limit.ts'
import { createOpenEndpoint } from './fixtures.ts'

interface Line {
  readonly index: number
  readonly status: number
}

const open = (requestsPerSecond: number, burst: number) => {
  let nowMs = 0
  const clock = { monotonicMs: () => nowMs, unixSeconds: () => 0 }
  const codes: string[] = []
  const metrics = { recordDecision: () => undefined, recordError: (code: string) => void codes.push(code) }
  const limiter = createRateLimiter({ clock })
  const { dependencies, post } = createOpenEndpoint({ metrics, clock, limiter }, { requestsPerSecond, burst })
  createBatchEndpoint(dependencies)
  const send = async (elements: number): Promise<readonly Line[]> => {
    const deadline = { deadlineMs: nowMs + 10_000, passed: false }
    const response = await post({ requests: Array(elements).fill(0) }, {}, { deadline })
    return ((await response.json()) as { answers: Line[] }).answers
  }
  const count = (answers: readonly Line[], status: number) => answers.filter((line) => line.status === status).length
  return { send, count, codes, pass: (ms: number) => (nowMs += ms) }
}

test('a batch is refused if the key has less than one token per twenty elements', async () => {
  const { send, count, codes, pass } = open(100, 100)
  const answers = await send(1_000)
  expect(answers.map(({ index }) => index)).toEqual(Array.from({ length: 1_000 }, (_, index) => index))
  expect([count(answers, 400), count(answers, 429), codes.length]).toEqual([101, 899, 1_000])
  pass(490)
  expect(send(1_000)).rejects.toThrow(RateExceededError)
  pass(10)
  expect(count(await send(1_000), 400)).toBe(51)
})

test.each([
  [5, 1_000, 6],
  [1, 40, 2],
])('a burst of %d admits a batch of %d elements and %d of its elements', async (burst, size, admitted) => {
  const { send, count } = open(1, burst)
  expect(count(await send(size), 400)).toBe(admitted)
})
