// Behind the gate of both endpoints: a key that was revoked while its body came in, and decisions that came too late.
// Neither is signed or sent, and what was decided is withheld in the log (invariant 4).
import { describe, expect, test } from 'bun:test'
import type { CallAnswer, CallContext } from '../../src/attestation/attest.ts'
import { createBatchEndpoint } from '../../src/attestation/batch-endpoint.ts'
import { createEndpoint } from '../../src/attestation/endpoint.ts'
import type { DecodedRequest } from '../../src/attestation/schema.ts'
import { createChainTable } from '../../src/domain/chain.ts'
import { KeyUnusableError, type Principal } from '../../src/server/authenticate.ts'
import type { AdmittedRequest, Gate } from '../../src/server/gate.ts'
import type { FreshAnswer, IdempotentAnswer, IdempotentRequest, OnDispatch } from '../../src/server/idempotency.ts'
import { requestOf } from '../support/request.ts'

const PRINCIPAL: Principal = {
  keyId: 'key_1',
  organizationId: 'org_1',
  kind: 'attestation',
  environment: 'live',
  rateLimit: null,
}
const ANSWER: CallAnswer = { body: '{"signed":true}', compliant: true, lifetimeSeconds: 300 }
const CALL: DecodedRequest = { request: requestOf(), targetBy: 'address', targetText: '', missing: [] }
const DEADLINE_MS = 25_000

const setUp = () => {
  const deadline = { deadlineMs: DEADLINE_MS, passed: false }
  const world = {
    deadline,
    nowMs: 0,
    withheld: [] as string[][],
    decided: 0,
    performed: [] as string[],
    /** While the pool decides. */
    decide: async (_uuid: string): Promise<void> => undefined,
    /** While the answer is stored under its key. */
    store: async (): Promise<void> => undefined,
    stored: [] as string[],
    confirmKey: (): Promise<void> | undefined => undefined,
    /** What was asked for at the end of the turn. */
    endOfTurn: [] as (() => void)[],
  }
  let handle: ((call: AdmittedRequest) => Promise<Response>) | undefined
  const gate: Gate = (_settings, handler) => {
    handle = handler
    return () => Promise.reject(new Error('not asked'))
  }
  const perform = async (_request: unknown, { uuid, onDispatch }: CallContext): Promise<CallAnswer> => {
    world.performed.push(uuid)
    await onDispatch(300)
    await world.decide(uuid)
    return ANSWER
  }
  const idempotent = async (
    request: IdempotentRequest,
    work: (uuid: string, onDispatch: OnDispatch, claim: null) => Promise<FreshAnswer>,
  ): Promise<IdempotentAnswer> => {
    const { body } = await work(request.uuid, () => undefined, null)
    world.stored.push(body)
    await world.store()
    return { status: 200, body, replayed: false }
  }
  const dependencies = {
    gate,
    idempotent,
    metrics: { recordDecision: () => void world.decided++, recordError: () => undefined },
    pool: { withhold: (uuids: readonly string[]) => void world.withheld.push([...uuids]), refusal: () => null },
    concurrency: null,
    storeBacklogMs: () => 0,
    chains: createChainTable([]),
    clock: { monotonicMs: () => world.nowMs, unixSeconds: () => 0 },
  }
  const ask = (body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> => {
    if (handle === undefined) throw new Error('the endpoint has no gate')
    const request = new Request('http://127.0.0.1/', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return handle({
      request,
      requestId: 'request_1',
      principal: PRINCIPAL,
      rateLimit: null,
      deadline,
      ended: request.signal,
      confirmKey: () => world.confirmKey(),
    })
  }
  return { world, dependencies, perform, ask }
}

const single = () => {
  const { world, dependencies, perform, ask } = setUp()
  createEndpoint(dependencies, { kind: 'attestation', route: '/v2/attestation', decode: () => CALL, attest: perform })
  return { world, ask }
}

const batch = () => {
  const { world, dependencies, perform, ask } = setUp()
  createBatchEndpoint({
    ...dependencies,
    limiter: {
      ready: () => undefined,
      take: () => null,
      takeSome: (_principal, wanted) => ({ granted: wanted, state: null, refusal: null }),
    },
    after: (delayMs, callback) => {
      if (delayMs === 0) world.endOfTurn.push(callback)
      return () => undefined
    },
    report: () => undefined,
    decode: () => CALL,
    attest: perform,
  })
  return { world, ask }
}

const ELEMENTS = { requests: [{}, {}, {}] }
const revoked = (): Promise<void> => Promise.reject(new KeyUnusableError())
const KEYED = { 'idempotency-key': 'order-7' }

describe('a key that was revoked during a slow body', () => {
  test.each([
    ['a single request', single, {}, {}],
    ['a single request with an Idempotency-Key', single, {}, KEYED],
    ['a batch', batch, ELEMENTS, {}],
  ] as const)('gets nothing decided: %s', async (_, endpoint, body, headers) => {
    const { world, ask } = endpoint()
    world.confirmKey = revoked
    await expect(ask(body, headers)).rejects.toBeInstanceOf(KeyUnusableError)
    expect(world.performed).toEqual([])
  })
})

describe('a single request', () => {
  test('in time is answered, and nothing is withheld', async () => {
    for (const headers of [{}, KEYED]) {
      const { world, ask } = single()
      expect(await (await ask({}, headers)).text()).toBe(ANSWER.body)
      expect([world.withheld, world.decided]).toEqual([[], 1])
    }
  })

  test('that was answered 408 before its decision is withheld', async () => {
    const { world, ask } = single()
    world.decide = async () => {
      world.deadline.passed = true
    }
    await ask({})
    expect(world.withheld).toEqual([world.performed])
  })

  test('with an Idempotency-Key is not stored as the answer of its key either', async () => {
    const { world, ask } = single()
    world.decide = async () => {
      world.deadline.passed = true
    }
    await expect(ask({}, KEYED)).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    expect(world.withheld).toEqual([world.performed])
    expect([world.stored, world.decided]).toEqual([[], 0])
  })

  test('whose answer the store took too long to keep is withheld', async () => {
    const { world, ask } = single()
    world.store = async () => {
      world.deadline.passed = true
    }
    await ask({}, KEYED)
    expect(world.withheld).toEqual([world.performed])
  })
})

interface Line {
  readonly index: number
  readonly status: number
}

describe('a batch', () => {
  test('in time is answered, and nothing is withheld', async () => {
    const { world, ask } = batch()
    const { answers } = (await (await ask(ELEMENTS)).json()) as { answers: Line[] }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect([world.withheld, world.endOfTurn]).toEqual([[], []])
  })

  test('withholds its late elements together, at the end of their turn, and says 408 in their places', async () => {
    const { world, ask } = batch()
    // 250 ms of the call's own deadline are for sending.
    const answerByMs = DEADLINE_MS - 250
    world.decide = async (uuid) => {
      if (uuid === world.performed[0]) {
        world.nowMs = answerByMs - 1
        return
      }
      // Once the first has been answered.
      await new Promise((resolve) => setImmediate(resolve))
      world.nowMs = answerByMs
    }
    const { answers } = (await (await ask(ELEMENTS)).json()) as { answers: Line[] }
    expect(answers.map(({ status }) => status)).toEqual([200, 408, 408])
    expect(world.withheld).toEqual([])
    expect(world.endOfTurn).toHaveLength(1)
    for (const end of world.endOfTurn) end()
    expect(world.withheld).toEqual([world.performed.slice(1)])
    expect(world.decided).toBe(1)
  })

  test('that was answered 408 as a whole withholds all that was decided', async () => {
    const { world, ask } = batch()
    let decided = 0
    world.decide = async () => {
      decided += 1
      if (decided === 3) world.deadline.passed = true
    }
    await ask(ELEMENTS)
    expect(world.withheld.flat().toSorted()).toEqual(world.performed.toSorted())
  })
})
