// Batches of the client: results in the order of the requests, and retries of transient refusals under the same keys.
import { expect, test } from 'bun:test'
import type { AttestationRequest } from '../../src/client/attestation-types.ts'
import { attestMany } from '../../src/client/batch-calls.ts'
import { createCountersignClient } from '../../src/client/client.ts'
import { AnswerInvalidError, ArgumentInvalidError, ServiceUnreachableError } from '../../src/client/errors.ts'
import type { Call } from '../../src/client/transport.ts'
import { compliant, denied, WALLET } from './support/answers.ts'
import { json, startRecordingServer } from './support/recording-server.ts'

const REQUEST: AttestationRequest = { from: WALLET, chain: 'base', verificationHash: 'x-1' }
const refusal = (index: number, status: number, code: string, retryAfterSeconds?: number) => ({
  index,
  status,
  problem: { code, detail: `detail of ${code}`, request_id: 'r' },
  ...(retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds }),
})
const answered = (index: number, answer: unknown = compliant) => ({ index, status: 200, answer })

/** Responds according to a script and records waits. */
const setUp = (script: readonly (readonly unknown[] | Error)[], tries = 6) => {
  const sent: { idempotency_key: string }[][] = []
  const waits: number[] = []
  const call = async ({ body }: Call) => {
    sent.push((body as { requests: { idempotency_key: string }[] }).requests)
    const answers = script[sent.length - 1]
    if (answers instanceof Error) throw answers
    return { status: 200, body: { answers }, requestId: 'r' }
  }
  const run = (size: number) =>
    attestMany(
      {
        call,
        retry: { tries, baseDelayMs: 100, maxDelayMs: 1_000, maxRetryAfterMs: 60_000 },
        random: () => 1,
        wait: async (delayMs) => void waits.push(delayMs),
      },
      Array.from({ length: size }, () => REQUEST),
      'key',
      undefined,
    )
  const keys = () => sent.map((elements) => elements.map(({ idempotency_key }) => idempotency_key))
  return { run, keys, waits }
}

test('returns the results in order, and does not retry permanent refusals', async () => {
  const { run, keys, waits } = setUp([[answered(0), refusal(1, 400, 'INVALID_FIELD'), answered(2, denied)]])
  const results = await run(3)
  expect(results.map((result) => (result.ok ? result.answer.isCompliant : result.error.code))).toEqual([
    true,
    'INVALID_FIELD',
    false,
  ])
  expect(keys()).toEqual([['key/0', 'key/1', 'key/2']])
  expect(waits).toEqual([])
})

test('retries only transient refusals, under the same keys, after the longest requested wait', async () => {
  const { run, keys, waits } = setUp([
    [
      refusal(0, 503, 'OVERLOADED', 1),
      answered(1),
      refusal(2, 429, 'RATE_LIMITED', 3),
      refusal(3, 408, 'DEADLINE_EXCEEDED'),
    ],
    [answered(0), refusal(1, 429, 'RATE_LIMITED', 1), answered(2, denied)],
    [answered(0)],
  ])
  const results = await run(4)
  expect(results.map((result) => result.ok && result.answer.isCompliant)).toEqual([true, true, true, false])
  expect(keys()).toEqual([['key/0', 'key/1', 'key/2', 'key/3'], ['key/0', 'key/2', 'key/3'], ['key/2']])
  expect(waits).toEqual([3_100, 1_200])
})

test('keeps the results of a round if a later round fails', async () => {
  const lost = new ServiceUnreachableError('the response was interrupted', 'r')
  const { run } = setUp([[answered(0), refusal(1, 503, 'OVERLOADED')], lost])
  const [first, second] = await run(2)
  expect(first).toMatchObject({ ok: true, answer: { isCompliant: true } })
  expect(second).toMatchObject({ ok: false, error: { code: 'OVERLOADED' } })
  // If there are no results, the whole call fails.
  await expect(setUp([lost]).run(2)).rejects.toBe(lost)
})

test('returns the refusal of the last attempt', async () => {
  const overloaded = [refusal(0, 503, 'OVERLOADED')]
  const { run, keys } = setUp([overloaded, overloaded], 2)
  const [result] = await run(1)
  expect(result).toMatchObject({
    ok: false,
    error: { code: 'OVERLOADED', status: 503, detail: 'detail of OVERLOADED' },
  })
  expect(keys()).toHaveLength(2)
})

test('does not wait for longer than the maximum', async () => {
  const { run, waits } = setUp([[refusal(0, 429, 'RATE_LIMITED', 61), answered(1)]])
  expect((await run(2)).map(({ ok }) => ok)).toEqual([false, true])
  expect(waits).toEqual([])
})

test.each([
  ['too few answers', [answered(0)]],
  ['answers in another order', [answered(1), answered(0)]],
  ['no answer and no problem', [answered(0), { index: 1, status: 200 }]],
])('rejects a response with %s', async (_name, answers) => {
  const { run } = setUp([answers])
  await expect(run(2)).rejects.toBeInstanceOf(AnswerInvalidError)
})

test('sends neither an empty batch nor one that is too large', async () => {
  const { run, keys } = setUp([])
  for (const size of [0, 1_001]) await expect(run(size)).rejects.toBeInstanceOf(ArgumentInvalidError)
  expect(keys()).toEqual([])
})

test('sends the fields of the API', async () => {
  await using server = startRecordingServer(() => json({ answers: [answered(0)] }))
  const client = createCountersignClient({ attestationUrl: server.url, attestationApiKey: 'csa_test_key' })
  const [result] = await client.attestMany([{ ...REQUEST, msgValue: 7n }], { idempotencyKey: 'order' })
  expect(result?.ok).toBe(true)
  const [received] = server.received
  expect(received?.path).toBe('/v2/attestations')
  expect(received?.headers.get('idempotency-key')).toBeNull()
  expect(JSON.parse(received?.body ?? '')).toEqual({
    requests: [{ from: WALLET, chain: 'base', verification_hash: 'x-1', msg_value: '7', idempotency_key: 'order/0' }],
  })
})
