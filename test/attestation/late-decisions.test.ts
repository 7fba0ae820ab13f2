// Revoked keys and late decisions at both endpoints: neither is signed or sent, and late decisions are withheld
// (invariant 4).
import { describe, expect, test } from 'bun:test'
import type { CallAnswer } from '../../src/attestation/attest.ts'
import { createBatchEndpoint } from '../../src/attestation/batch-endpoint.ts'
import { createEndpoint } from '../../src/attestation/endpoint.ts'
import type { DecodedRequest } from '../../src/attestation/schema.ts'
import { KeyUnusableError } from '../../src/server/authenticate.ts'
import { requestOf } from '../support/request.ts'
import { createOpenEndpoint } from './fixtures.ts'

const ANSWER: CallAnswer = { body: '{"signed":true}', compliant: true, lifetimeSeconds: 300 }
const DECODED: DecodedRequest = { request: requestOf(), targetBy: 'address', targetText: '', missing: [] }
const DEADLINE_MS = 25_000
const KEYED = { 'idempotency-key': 'order-7' }

const setUp = () => {
  const state = {
    deadline: { deadlineMs: DEADLINE_MS, passed: false },
    nowMs: 0,
    withheld: [] as string[][],
    decisions: 0,
    attested: [] as string[],
    /** Runs while the pool decides. */
    decide: async (_uuid: string): Promise<void> => undefined,
    /** Runs while the answer is stored. */
    store: async (): Promise<void> => undefined,
    stored: [] as string[],
    confirmKey: (): Promise<void> | undefined => undefined,
    /** Callbacks for the end of the turn. */
    endOfTurn: [] as (() => void)[],
  }
  const { dependencies, post } = createOpenEndpoint({
    idempotent: async (request, work) => {
      const { body } = await work(request.uuid, () => undefined, null)
      state.stored.push(body)
      await state.store()
      return { status: 200, body, replayed: false }
    },
    metrics: { recordDecision: () => void state.decisions++, recordError: () => undefined },
    pool: { withhold: (uuids) => void state.withheld.push([...uuids]), refusal: () => null },
    clock: { monotonicMs: () => state.nowMs, unixSeconds: () => 0 },
    after: (delayMs, callback) => {
      if (delayMs === 0) state.endOfTurn.push(callback)
      return () => undefined
    },
    decode: () => DECODED,
    attest: async (_request, { uuid, onDispatch }) => {
      state.attested.push(uuid)
      await onDispatch(300)
      await state.decide(uuid)
      return ANSWER
    },
  })
  const send = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    post(body, headers, { deadline: state.deadline, confirmKey: () => state.confirmKey() })
  return { state, dependencies, send }
}

const openSingle = () => {
  const endpoint = setUp()
  const { decode, attest } = endpoint.dependencies
  createEndpoint(endpoint.dependencies, { kind: 'attestation', route: '/v2/attestation', decode, attest })
  return endpoint
}
const openBatch = () => {
  const endpoint = setUp()
  createBatchEndpoint(endpoint.dependencies)
  return endpoint
}
const BATCH = { requests: [{}, {}, {}] }
const statusesOf = async (response: Response): Promise<number[]> =>
  ((await response.json()) as { answers: { status: number }[] }).answers.map(({ status }) => status)

test.each([
  ['a single request', openSingle, {}, {}],
  ['a single request with an Idempotency-Key', openSingle, {}, KEYED],
  ['a batch', openBatch, BATCH, {}],
] as const)('%s is not decided if its key is revoked while its body arrives', async (_, open, body, headers) => {
  const { state, send } = open()
  state.confirmKey = () => Promise.reject(new KeyUnusableError())
  await expect(send(body, headers)).rejects.toBeInstanceOf(KeyUnusableError)
  expect(state.attested).toEqual([])
})

describe('a single request', () => {
  test.each([{}, KEYED])('in time is answered and not withheld: %j', async (headers) => {
    const { state, send } = openSingle()
    expect(await (await send({}, headers)).text()).toBe(ANSWER.body)
    expect([state.withheld, state.decisions]).toEqual([[], 1])
  })

  test.each([
    ['its decision', 'decide', {}],
    ['its decision, with an Idempotency-Key', 'decide', KEYED],
    ['its answer was stored', 'store', KEYED],
  ] as const)('that gets 408 before %s is withheld', async (_name, step, headers) => {
    const { state, send } = openSingle()
    state[step] = async () => {
      state.deadline.passed = true
    }
    const error = await send({}, headers).then(
      () => null,
      (cause: unknown) => cause,
    )
    expect(state.withheld).toEqual([state.attested])
    if (step === 'decide' && headers === KEYED) {
      // The answer is not stored either.
      expect(error).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
      expect([state.stored, state.decisions]).toEqual([[], 0])
    } else expect(error).toBeNull()
  })
})

describe('a batch', () => {
  test('in time is answered and not withheld', async () => {
    const { state, send } = openBatch()
    expect(await statusesOf(await send(BATCH))).toEqual([200, 200, 200])
    expect([state.withheld, state.endOfTurn]).toEqual([[], []])
  })

  test('withholds its late elements together at the end of their turn, and answers 408 for them', async () => {
    const { state, send } = openBatch()
    // The last 250 ms are reserved for sending.
    const answerByMs = DEADLINE_MS - 250
    state.decide = async (uuid) => {
      state.nowMs = answerByMs - 1
      if (uuid === state.attested[0]) return
      // The first element is answered meanwhile.
      await new Promise((resolve) => setImmediate(resolve))
      state.nowMs = answerByMs
    }
    expect(await statusesOf(await send(BATCH))).toEqual([200, 408, 408])
    expect([state.withheld, state.endOfTurn.length]).toEqual([[], 1])
    for (const end of state.endOfTurn) end()
    expect(state.withheld).toEqual([state.attested.slice(1)])
    expect(state.decisions).toBe(1)
  })

  test('withholds all its decisions if it got 408 as a whole', async () => {
    const { state, send } = openBatch()
    let decided = 0
    state.decide = async () => {
      decided += 1
      if (decided === 3) state.deadline.passed = true
    }
    await send(BATCH)
    expect(state.withheld.flat().toSorted()).toEqual(state.attested.toSorted())
  })
})
