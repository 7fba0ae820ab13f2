import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createClaimTeller } from '../../src/cluster/claim-teller.ts'
import {
  CountersignError,
  DeadlineExceededError,
  DependencyUnavailableError,
  ERRORS,
  type ErrorCode,
  FieldMissingError,
  QueueFullError,
} from '../../src/domain/errors.ts'
import {
  createIdempotencyGuard,
  type FreshAnswer,
  type IdempotencyStore,
  type IdempotentRequest,
  mayHaveSigned,
  type NodeMemory,
  type OnDispatch,
  type Recalled,
  type SoughtDecision,
} from '../../src/server/idempotency.ts'
import { openLoggedClaims } from '../../src/store/claim-log/claims.ts'
import type { IdempotencyClaim } from '../../src/store/idempotency.ts'
import { openTemporaryStore, type TemporaryStore } from '../store/temporary-store.ts'
import { u } from '../support/numbered-uuid.ts'

const CLAIM_SECONDS = 30
const LIFETIME_SECONDS = 300

let temporary: TemporaryStore
let organizationId: string
let reports: unknown[]
/** Set to make the store fail at one of its calls. */
let failing: 'claim' | 'mark' | 'complete' | 'release' | null

const requireUp = (call: NonNullable<typeof failing>): void => {
  if (failing === call) throw new DependencyUnavailableError('down')
}

/** A real store's claims, which fail when told to. */
const failingClaims = (of: () => Promise<IdempotencyStore<IdempotencyClaim>>): IdempotencyStore<IdempotencyClaim> => ({
  claim: async (...parameters) => {
    requireUp('claim')
    return (await of()).claim(...parameters)
  },
  markDispatched: async (...parameters) => {
    requireUp('mark')
    return (await of()).markDispatched(...parameters)
  },
  replaceUuid: async (...parameters) => (await of()).replaceUuid(...parameters),
  release: async (claim) => {
    requireUp('release')
    return (await of()).release(claim)
  },
})

/** Claims in rows, with their answers. */
const rowStore: IdempotencyStore<IdempotencyClaim> = {
  ...failingClaims(async () => temporary.store.idempotency),
  complete: async (...parameters) => {
    requireUp('complete')
    return temporary.store.idempotency.complete(...parameters)
  },
}

const USABLE_SECONDS = 3_660

/** A process's own view of the claim log. */
const logStore = (): IdempotencyStore<IdempotencyClaim> => {
  const { store, clock } = temporary
  const opening = openLoggedClaims({ database: store.database, clock, node: 'this', usableSeconds: USABLE_SECONDS })
  return failingClaims(() => opening)
}

const KEEP_SECONDS = 600

/** A decision log that answers as `recall` says. */
const memoryOf = (recall: NodeMemory['recall'], node = '', find = recall): NodeMemory => ({
  node,
  recall,
  find,
  keepSeconds: node === '' ? KEEP_SECONDS : 86_400,
  usableSeconds: USABLE_SECONDS,
})

/** Without a node's name, the answers are in the decision log alone. */
const guard = (memory?: NodeMemory) =>
  createIdempotencyGuard({
    store: memory?.node === '' ? logStore() : rowStore,
    clock: temporary.clock,
    claimSeconds: CLAIM_SECONDS,
    report: (error) => reports.push(error),
    ...(memory === undefined ? {} : { memory }),
  })

const request = (uuid: string, changes: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  organizationId,
  keyId: 'key 1',
  header: 'order-7',
  route: '/v2/attestation',
  body: '{"from":"0x1"}',
  uuid,
  ...changes,
})

const sign = async (uuid: string): Promise<FreshAnswer> => ({
  body: JSON.stringify({ uuid }),
  keepSeconds: LIFETIME_SECONDS,
})
const answered = (uuid: string, replayed = false) => ({ status: 200, body: JSON.stringify({ uuid }), replayed })
const failWith =
  (error: unknown) =>
  async (_uuid: string, onDispatch: OnDispatch): Promise<FreshAnswer> => {
    await onDispatch(LIFETIME_SECONDS)
    throw error
  }
/** A try whose deadline passes after it was dispatched, and the end of its claim. */
const cutOff = async (run: ReturnType<typeof guard>, request: IdempotentRequest): Promise<void> => {
  expect(await codeOf(run(request, failWith(new DeadlineExceededError())))).toBe('DEADLINE_EXCEEDED')
  temporary.clock.advance(CLAIM_SECONDS)
}
const codeOf = async (run: Promise<unknown>): Promise<ErrorCode> => {
  try {
    await run
  } catch (error) {
    if (error instanceof CountersignError) return error.code
    throw error
  }
  throw new Error('it was answered')
}

beforeEach(async () => {
  temporary = await openTemporaryStore()
  organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
  reports = []
  failing = null
})
afterEach(() => temporary.remove())

describe('without the header', () => {
  test('every request is its own, and the store is not asked', async () => {
    failing = 'claim'
    const run = guard()
    expect(await run(request(u(1), { header: null }), sign)).toEqual(answered(u(1)))
    expect(await run(request(u(2), { header: null }), sign)).toEqual(answered(u(2)))
    expect(
      await run(request(u(3), { header: null }), async () => ({ body: 'x', status: 201, keepSeconds: 1 })),
    ).toMatchObject({ status: 201 })
  })
})

describe('the header', () => {
  test.each(['', 'x'.repeat(256), 'a b', 'a, b', 'é', 'a\u007f'])('%p is 400 and nothing runs', async (header) => {
    let runs = 0
    const run = guard()(request(u(1), { header }), async (uuid) => {
      runs += 1
      return sign(uuid)
    })
    expect(await codeOf(run)).toBe('INVALID_HEADER')
    expect(runs).toBe(0)
  })

  test('255 visible characters are fine', async () => {
    expect(await guard()(request(u(1), { header: '~'.repeat(255) }), sign)).toEqual(answered(u(1)))
  })
})

describe('a retry', () => {
  test('gets the first answer, byte for byte, as long as the attestation lives', async () => {
    const run = guard()
    expect(await run(request(u(1)), sign)).toEqual(answered(u(1)))
    expect(await run(request(u(2)), sign)).toEqual(answered(u(1), true))
    temporary.clock.advance(LIFETIME_SECONDS)
    expect(await run(request(u(3)), sign)).toEqual(answered(u(1), true))
    temporary.clock.advance(3_600)
    expect(await run(request(u(4)), sign)).toEqual(answered(u(4)))
  })

  test('while the first is in flight is 409', async () => {
    const run = guard()
    const { promise, resolve } = Promise.withResolvers<FreshAnswer>()
    const started = Promise.withResolvers<void>()
    const first = run(request(u(1)), () => {
      started.resolve()
      return promise
    })
    await started.promise
    expect(await codeOf(run(request(u(2)), sign))).toBe('IDEMPOTENCY_IN_FLIGHT')
    resolve(await sign(u(1)))
    expect(await first).toEqual(answered(u(1)))
  })

  test('of fifty at once, one runs', async () => {
    const run = guard()
    let runs = 0
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) =>
        run(request(`u${index}`), async (uuid) => {
          runs += 1
          return sign(uuid)
        }),
      ),
    )
    expect(runs).toBe(1)
    const bodies = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.body] : []))
    expect(new Set(bodies).size).toBe(1)
    for (const result of results) {
      if (result.status === 'rejected') expect((result.reason as CountersignError).code).toBe('IDEMPOTENCY_IN_FLIGHT')
    }
  })

  test.each<[string, Partial<IdempotentRequest>]>([
    ['another body', { body: '{"from":"0x2"}' }],
    ['the same body, spaced otherwise', { body: '{"from": "0x1"}' }],
    ['another route', { route: '/v1/task' }],
    ['route and body split otherwise', { route: '/v2/attestation\n{"from"', body: ':"0x1"}' }],
  ])('with %s is 422', async (_name, changes) => {
    const run = guard()
    await run(request(u(1)), sign)
    expect(await codeOf(run(request(u(2), changes), sign))).toBe('IDEMPOTENCY_MISMATCH')
  })

  test('of another API key or organization is another request', async () => {
    const run = guard()
    await run(request(u(1)), sign)
    expect(await run(request(u(2), { keyId: 'key 2' }), sign)).toEqual(answered(u(2)))
    const other = (await temporary.store.organizations.create({ slug: 'other', name: 'Other' })).id
    expect(await run(request(u(3), { organizationId: other }), sign)).toEqual(answered(u(3)))
  })
})

describe('after an error', () => {
  const KEEPS: readonly ErrorCode[] = ['DEADLINE_EXCEEDED', 'INTERNAL', 'DEPENDENCY_UNAVAILABLE', 'SHUTTING_DOWN']

  test.each(Object.keys(ERRORS) as ErrorCode[])(
    '%s: the retry may have a new uuid only if nothing was signed',
    async (code) => {
      const run = guard()
      const error = new CountersignError(code, 'text')
      expect(await codeOf(run(request(u(1)), failWith(error)))).toBe(code)
      expect(mayHaveSigned(error)).toBe(KEEPS.includes(code))
      if (KEEPS.includes(code)) {
        // Until its deadline is surely over, the first try may still be signing.
        expect(await codeOf(run(request(u(2)), sign))).toBe('IDEMPOTENCY_IN_FLIGHT')
        temporary.clock.advance(CLAIM_SECONDS)
        expect(await run(request(u(2)), sign)).toEqual(answered(u(1)))
      } else {
        expect(await run(request(u(2), { body: 'corrected' }), sign)).toEqual(answered(u(2)))
      }
    },
  )

  test.each([...KEEPS])('%s of a part that knows that nothing was signed: the key is free at once', async (code) => {
    const run = guard()
    const error = new CountersignError(code, 'text', { nothingSigned: true })
    expect(await codeOf(run(request(u(1)), failWith(error)))).toBe(code)
    expect(await run(request(u(2)), sign)).toEqual(answered(u(2)))
  })

  test('that may have signed: a retry is told how long the claim is still held', async () => {
    const run = guard()
    await codeOf(run(request(u(1)), failWith(new DependencyUnavailableError('the log of a lost worker'))))
    const left = async (): Promise<number | undefined> => {
      try {
        await run(request(u(2)), sign)
      } catch (error) {
        if (error instanceof CountersignError) return error.retryAfterSeconds
        throw error
      }
      return undefined
    }
    expect(await left()).toBe(CLAIM_SECONDS)
    temporary.clock.advance(CLAIM_SECONDS - 3)
    expect(await left()).toBe(3)
    temporary.clock.advance(3)
    expect(await run(request(u(2)), sign)).toEqual(answered(u(1)))
  })

  test('before anything could be signed, whatever the error, the key is free again', async () => {
    const run = guard()
    const early = async (): Promise<FreshAnswer> => {
      throw new DependencyUnavailableError('the chain is away')
    }
    expect(await codeOf(run(request(u(1)), early))).toBe('DEPENDENCY_UNAVAILABLE')
    expect(await run(request(u(2)), sign)).toEqual(answered(u(2)))
  })

  describe('the retry after a cut-off try', () => {
    const afterCutOff = async (recalled: Recalled) => {
      const asked: unknown[] = []
      const run = guard(
        memoryOf(async ({ uuid, sinceSeconds }) => {
          asked.push([uuid, temporary.clock.unixSeconds() - sinceSeconds])
          return recalled
        }),
      )
      await cutOff(run, request(u(1)))
      const answer = await run(request(u(2)), sign)
      // Looked for from the moment at which the first try claimed the key.
      expect(asked).toEqual([[u(1), CLAIM_SECONDS]])
      return answer
    }

    test('is given what was recorded, and nothing is done again', async () => {
      const answer = { body: '{"recorded":true}', keepSeconds: 10 }
      expect(await afterCutOff({ outcome: 'decided', answer })).toEqual({
        status: 200,
        body: '{"recorded":true}',
        replayed: true,
      })
    })

    test('is looked for from its first use on, however often its answer could not be stored', async () => {
      const asked: number[] = []
      const run = guard(
        memoryOf(async ({ uuid, sinceSeconds }) => {
          asked.push(temporary.clock.unixSeconds() - sinceSeconds)
          return { outcome: 'decided', answer: await sign(uuid) }
        }),
      )
      failing = 'complete'
      for (let round = 0; round < 3; round++) {
        expect(await run(request(u(round)), sign)).toEqual(answered(u(0), round > 0))
        temporary.clock.advance(CLAIM_SECONDS)
      }
      expect(asked).toEqual([CLAIM_SECONDS, 2 * CLAIM_SECONDS])
    })

    test('uses the same uuid when nothing was recorded', async () => {
      expect(await afterCutOff({ outcome: 'nothing' })).toEqual(answered(u(1)))
    })

    test('is a new request when what was signed has expired', async () => {
      expect(await afterCutOff({ outcome: 'expired' })).toEqual(answered(u(2)))
    })
  })

  test('the uuid of a new request after an expired one is kept: a third try finds what the second signed', async () => {
    const asked: string[] = []
    const recorded = new Map<string, Recalled>([[u(1), { outcome: 'expired' }]])
    const run = guard(
      memoryOf(async ({ uuid }) => {
        asked.push(uuid)
        return recorded.get(uuid) ?? { outcome: 'nothing' }
      }),
    )
    const signed: string[] = []
    const signAndFail = async (uuid: string, onDispatch: OnDispatch): Promise<FreshAnswer> => {
      await onDispatch(LIFETIME_SECONDS)
      signed.push(uuid)
      throw new DeadlineExceededError()
    }
    for (const uuid of [u(1), u(2)]) {
      expect(await codeOf(run(request(uuid), signAndFail))).toBe('DEADLINE_EXCEEDED')
      temporary.clock.advance(CLAIM_SECONDS)
    }
    expect(signed).toEqual([u(1), u(2)])
    recorded.set(u(2), { outcome: 'decided', answer: { body: answered(u(2)).body, keepSeconds: 10 } })
    // What the second try signed is answered; nothing is signed under a third uuid.
    expect(await run(request(u(3)), sign)).toEqual(answered(u(2), true))
    expect(asked).toEqual([u(1), u(2)])
    expect(await run(request(u(4)), sign)).toEqual(answered(u(2), true))
  })

  test('a claim that was lost while its uuid was looked up is not signed under another', async () => {
    const lookup = Promise.withResolvers<Recalled>()
    const asked = Promise.withResolvers<void>()
    const run = guard(
      memoryOf(async () => {
        asked.resolve()
        return lookup.promise
      }),
    )
    await cutOff(run, request(u(1)))
    const slow = codeOf(run(request(u(2)), sign))
    await asked.promise
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await guard(memoryOf(async () => ({ outcome: 'nothing' })))(request(u(3)), sign)).toEqual(answered(u(1)))
    lookup.resolve({ outcome: 'expired' })
    expect(await slow).toBe('IDEMPOTENCY_IN_FLIGHT')
  })

  test('an error of unknown kind counts as signed', async () => {
    const run = guard()
    await expect(run(request(u(1)), failWith(new TypeError('x')))).rejects.toThrow(TypeError)
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await run(request(u(2)), sign)).toEqual(answered(u(1)))
  })

  test('the uuid stays through any number of cut-off tries, and the body is held to the first', async () => {
    const run = guard()
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await codeOf(run(request(u(attempt)), failWith(new DeadlineExceededError())))).toBe('DEADLINE_EXCEEDED')
      temporary.clock.advance(CLAIM_SECONDS)
    }
    expect(await codeOf(run(request(u(8), { body: 'other' }), sign))).toBe('IDEMPOTENCY_MISMATCH')
    expect(await run(request(u(9)), sign)).toEqual(answered(u(0)))
  })

  test('a full queue does not use the key up: the next try is a first one, with its own uuid', async () => {
    const run = guard()
    for (const uuid of [u(1), u(2)]) {
      expect(await codeOf(run(request(uuid), failWith(new QueueFullError())))).toBe('OVERLOADED')
    }
    // Also another request may have it: nothing was bound to it.
    expect(await run(request(u(3), { body: 'other' }), sign)).toEqual(answered(u(3)))
    expect(await codeOf(run(request(u(4)), sign))).toBe('IDEMPOTENCY_MISMATCH')
  })

  test('a refusal after a cut-off try does not free the uuid: the first may have been signed', async () => {
    const run = guard()
    await cutOff(run, request(u(1)))
    await codeOf(run(request(u(2)), failWith(new QueueFullError())))
    expect(await codeOf(run(request(u(3)), sign))).toBe('IDEMPOTENCY_IN_FLIGHT')
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await run(request(u(3)), sign)).toEqual(answered(u(1)))
  })

  test('a first try that ends after it was taken over does not answer beside the second', async () => {
    const run = guard()
    const { promise, resolve } = Promise.withResolvers<FreshAnswer>()
    const started = Promise.withResolvers<void>()
    const first = run(request(u(1)), () => {
      started.resolve()
      return promise
    })
    await started.promise
    temporary.clock.advance(CLAIM_SECONDS)
    const second = Promise.withResolvers<FreshAnswer>()
    const elsewhere = guard()
    const taken = elsewhere(request(u(2)), () => second.promise)
    // Once the second holds the claim, a third is refused.
    expect(await codeOf(guard()(request(u(3)), sign))).toBe('IDEMPOTENCY_IN_FLIGHT')
    resolve({ body: 'late', keepSeconds: 1 })
    expect(await codeOf(first)).toBe('IDEMPOTENCY_IN_FLIGHT')
    second.resolve({ body: 'on time', keepSeconds: LIFETIME_SECONDS })
    expect(await taken).toEqual({ status: 200, body: 'on time', replayed: false })
    expect((await run(request(u(4)), sign)).body).toBe('on time')
  })
})

describe.each<[string, () => ReturnType<typeof guard>]>([
  ['in rows', () => guard()],
  ['in the log', () => guard(memoryOf(async () => ({ outcome: 'nothing' })))],
])('a claim %s', (_where, open) => {
  test.each([CLAIM_SECONDS, KEEP_SECONDS + CLAIM_SECONDS, 40 * 86_400, -CLAIM_SECONDS])(
    'of a request that goes on is not taken over in its process, though the clock steps by %p s',
    async (seconds) => {
      const run = open()
      const [started, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const signed: string[] = []
      const first = run(request(u(1)), async (uuid, onDispatch) => {
        await onDispatch(LIFETIME_SECONDS)
        started.resolve()
        await end.promise
        signed.push(uuid)
        return sign(uuid)
      })
      await started.promise
      temporary.clock.step(seconds)
      const retry = () => codeOf(run(request(u(2)), sign))
      expect(await retry()).toBe('IDEMPOTENCY_IN_FLIGHT')
      expect(await codeOf(run(request(u(3), { body: 'other' }), sign))).toBe('IDEMPOTENCY_MISMATCH')
      // Nor when its time is over by either clock, and others of its time were forgotten.
      temporary.clock.advance(2 * CLAIM_SECONDS)
      await run(request(u(4), { header: 'order-8' }), sign)
      expect(await retry()).toBe('IDEMPOTENCY_IN_FLIGHT')
      end.resolve()
      expect(await first).toEqual(answered(u(1)))
      expect(signed).toEqual([u(1)])
    },
  )

  test.each([CLAIM_SECONDS, KEEP_SECONDS / 2, 3_600])(
    'of a request that goes on is not taken over by another process, though the clock steps by %p s',
    async (seconds) => {
      const [one, other] = [open(), open()]
      temporary.clock.advance(3_600)
      const [started, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const first = one(request(u(1)), async (uuid, onDispatch) => {
        await onDispatch(LIFETIME_SECONDS)
        started.resolve()
        await end.promise
        return sign(uuid)
      })
      await started.promise
      const signed: string[] = []
      const retry = () =>
        other(request(u(2)), (uuid) => {
          signed.push(uuid)
          return sign(uuid)
        })
      temporary.clock.step(seconds)
      expect(await codeOf(retry())).toBe('IDEMPOTENCY_IN_FLIGHT')
      temporary.clock.advance(CLAIM_SECONDS - 1)
      expect(await codeOf(retry())).toBe('IDEMPOTENCY_IN_FLIGHT')
      expect(signed).toEqual([])
      // By now, the first holder's deadline is over.
      temporary.clock.advance(1)
      expect((await retry()).body).toBe(answered(u(1)).body)
      end.resolve()
      await first.catch((error: unknown) => error)
    },
  )

  test('of a request that was cut off is kept for its time by the monotonic clock', async () => {
    const run = open()
    expect(await codeOf(run(request(u(1)), failWith(new DeadlineExceededError())))).toBe('DEADLINE_EXCEEDED')
    temporary.clock.step(CLAIM_SECONDS)
    temporary.clock.advance(CLAIM_SECONDS - 3)
    await run(request(u(4), { header: 'order-8' }), sign)
    const error = await run(request(u(2)), sign).catch((refusal: unknown) => refusal)
    expect(error).toMatchObject({ code: 'IDEMPOTENCY_IN_FLIGHT', retryAfterSeconds: 3 })
    temporary.clock.advance(3)
    expect(await run(request(u(2)), sign)).toEqual(answered(u(1)))
  })

  test('that two requests ask for at once is signed once, though the clock steps between the two', async () => {
    const run = open()
    const end = Promise.withResolvers<void>()
    const signed: string[] = []
    const ask = (uuid: string) =>
      codeOf(
        run(request(uuid), async (claimed, onDispatch) => {
          await onDispatch(LIFETIME_SECONDS)
          await end.promise
          signed.push(claimed)
          return sign(claimed)
        }),
      ).catch(() => 'answered')
    const first = ask(u(1))
    temporary.clock.step(CLAIM_SECONDS)
    const second = ask(u(2))
    expect(await Promise.race([first, second])).toBe('IDEMPOTENCY_IN_FLIGHT')
    end.resolve()
    await first
    expect(signed).toEqual([u(1)])
  })
})

test('an answer in a row is repeated while its attestation may be valid, though the clock was set ahead', async () => {
  const run = guard(memoryOf(async () => ({ outcome: 'nothing' }), 'one'))
  expect(await run(request(u(1)), sign)).toEqual(answered(u(1)))
  temporary.clock.step(86_400)
  await run(request(u(4), { header: 'order-8' }), sign)
  temporary.clock.advance(LIFETIME_SECONDS)
  expect(await run(request(u(2)), sign)).toEqual(answered(u(1), true))
  temporary.clock.advance(USABLE_SECONDS)
  expect(await run(request(u(3)), sign)).toEqual(answered(u(3)))
})

describe('answers that the log has', () => {
  /** What the decision log has, by uuid. */
  let log: Map<string, FreshAnswer>
  let searches: string[]
  const look =
    (depth: string) =>
    async ({ uuid }: SoughtDecision): Promise<Recalled> => {
      searches.push(`${depth} ${uuid}`)
      const answer = log.get(uuid)
      return answer === undefined ? { outcome: 'nothing' } : { outcome: 'decided', answer }
    }
  const logged = () => guard(memoryOf(look('all'), '', look('soon after')))
  const record = async (uuid: string, onDispatch: OnDispatch): Promise<FreshAnswer> => {
    await onDispatch(LIFETIME_SECONDS)
    const answer = await sign(uuid)
    log.set(uuid, answer)
    return answer
  }
  const keptSeconds = async (): Promise<number> => {
    const [row] = await temporary.store.database.query<{ keep_until_seconds: number }>(
      'SELECT keep_until_seconds FROM claim_groups ORDER BY first_number DESC LIMIT 1',
    )
    return (row?.keep_until_seconds ?? 0) - temporary.clock.unixSeconds()
  }

  beforeEach(() => {
    log = new Map()
    searches = []
  })

  test('are not stored beside it, and are read from it for a retry: at once, in another process, much later', async () => {
    failing = 'complete'
    expect(await logged()(request(u(1)), record)).toEqual(answered(u(1)))
    expect(await temporary.store.database.query('SELECT uuid FROM idempotency')).toEqual([])
    expect(await logged()(request(u(2)), record)).toEqual(answered(u(1), true))
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await logged()(request(u(3)), record)).toEqual(answered(u(1), true))
    expect(searches).toEqual([`soon after ${u(1)}`, `all ${u(1)}`])
    expect([...log.keys()]).toEqual([u(1)])
    expect(reports).toEqual([])
  })

  test('are not looked for while this process is working on them', async () => {
    const run = logged()
    const started = Promise.withResolvers<void>()
    const { promise, resolve } = Promise.withResolvers<FreshAnswer>()
    const first = run(request(u(1)), () => {
      started.resolve()
      return promise
    })
    await started.promise
    expect(await codeOf(run(request(u(2)), record))).toBe('IDEMPOTENCY_IN_FLIGHT')
    expect(searches).toEqual([])
    // Another process looks, finds nothing yet, and refuses as well.
    expect(await codeOf(logged()(request(u(3)), record))).toBe('IDEMPOTENCY_IN_FLIGHT')
    expect(searches).toEqual([`soon after ${u(1)}`])
    resolve(await sign(u(1)))
    expect(await first).toEqual(answered(u(1)))
    expect(await codeOf(run(request(u(4)), record))).toBe('IDEMPOTENCY_IN_FLIGHT')
    expect(searches).toEqual([`soon after ${u(1)}`, `soon after ${u(1)}`])
  })

  test('are not looked for by the process that was cut off with them until their claim has ended', async () => {
    const run = logged()
    expect(
      await codeOf(
        run(request(u(1)), async (uuid, onDispatch) => {
          await record(uuid, onDispatch)
          throw new DeadlineExceededError()
        }),
      ),
    ).toBe('DEADLINE_EXCEEDED')
    expect(await codeOf(run(request(u(2)), record))).toBe('IDEMPOTENCY_IN_FLIGHT')
    expect(searches).toEqual([])
    // After a restart nothing is known of it: it is looked for.
    expect(await logged()(request(u(3)), record)).toEqual(answered(u(1), true))
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await run(request(u(4)), record)).toEqual(answered(u(1), true))
    expect(searches).toEqual([`soon after ${u(1)}`, `all ${u(1)}`])
  })

  test('are repeated to nobody who sends another body', async () => {
    const run = logged()
    await run(request(u(1)), record)
    expect(await codeOf(run(request(u(2), { body: 'other' }), record))).toBe('IDEMPOTENCY_MISMATCH')
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await codeOf(run(request(u(2), { body: 'other' }), record))).toBe('IDEMPOTENCY_MISMATCH')
    expect(searches).toEqual([])
  })

  test('whose attestation lives long keep their key as long, from before it is signed', async () => {
    let keptAtSigning = 0
    const work = async (uuid: string, onDispatch: OnDispatch): Promise<FreshAnswer> => {
      await onDispatch(3_600)
      keptAtSigning = await keptSeconds()
      return sign(uuid)
    }
    await logged()(request(u(1)), work)
    expect(keptAtSigning).toBe(CLAIM_SECONDS + 3_600 + 60)
  })

  test('whose key can’t be kept as long are not signed', async () => {
    failing = 'mark'
    expect(
      await codeOf(
        logged()(request(u(1)), async (uuid, onDispatch) => {
          await onDispatch(3_600)
          return record(uuid, onDispatch)
        }),
      ),
    ).toBe('DEPENDENCY_UNAVAILABLE')
    expect(log.size).toBe(0)
    // What lives no longer than a claim is kept anyway needs no second write.
    expect(await logged()(request(u(2)), record)).toEqual(answered(u(2)))
    expect(await keptSeconds()).toBe(CLAIM_SECONDS + KEEP_SECONDS)
  })

  test('that are asked for again and again are forgotten in their time all the same', async () => {
    const run = logged()
    await run(request(u(1)), record)
    for (let seconds = 0; seconds < CLAIM_SECONDS + KEEP_SECONDS; seconds += CLAIM_SECONDS) {
      expect(await run(request(u(2)), record)).toEqual(answered(u(1), true))
      temporary.clock.advance(CLAIM_SECONDS)
    }
    expect(await run(request(u(3)), record)).toEqual(answered(u(3)))
  })

  test('of a request that was taken over and recorded nothing are signed under its uuid, which is kept from then on', async () => {
    const run = logged()
    await cutOff(run, request(u(1)))
    temporary.clock.advance(KEEP_SECONDS - 10)
    expect(await run(request(u(2)), record)).toEqual(answered(u(1)))
    expect(searches).toEqual([`all ${u(1)}`])
    expect(await keptSeconds()).toBe(CLAIM_SECONDS + LIFETIME_SECONDS + 60)
  })
})

describe('over nodes', () => {
  /** What each node has in its decision log. */
  let logs: Map<string, Map<string, FreshAnswer>>
  const nodeMemory = (node: string): NodeMemory =>
    memoryOf(async ({ uuid }) => {
      const answer = logs.get(node)?.get(uuid)
      return answer === undefined ? { outcome: 'nothing' } : { outcome: 'decided', answer }
    }, node)
  const nodeGuard = (node: string) => guard(nodeMemory(node))
  /** Signs and records, and is cut off before the answer is stored. */
  const signAndDie =
    (node: string) =>
    async (uuid: string, onDispatch: OnDispatch): Promise<FreshAnswer> => {
      await onDispatch(LIFETIME_SECONDS)
      logs.set(node, new Map([[uuid, await sign(uuid)]]))
      throw new DeadlineExceededError()
    }
  const retryAfter = async (run: Promise<unknown>): Promise<number | null> => {
    const error = await run.then(
      () => null,
      (cause: unknown) => cause,
    )
    return error instanceof CountersignError && error.code === 'IDEMPOTENCY_IN_FLIGHT'
      ? (error.retryAfterSeconds ?? null)
      : null
  }
  const tellerOf = (node: string) =>
    createClaimTeller({
      memory: nodeMemory(node),
      claims: temporary.store.idempotency,
      clock: temporary.clock,
      claimSeconds: CLAIM_SECONDS,
      after: () => () => undefined,
      onError: (error) => reports.push(error),
    })

  beforeEach(() => {
    logs = new Map()
  })

  test('what a lost node may have signed is signed elsewhere under another uuid, once it can be used no more', async () => {
    await codeOf(nodeGuard('one')(request(u(1)), signAndDie('one')))
    temporary.clock.advance(CLAIM_SECONDS + 5)
    const two = nodeGuard('two')
    expect(await retryAfter(two(request(u(2)), sign))).toBe(USABLE_SECONDS - 5)
    temporary.clock.advance(USABLE_SECONDS - 5)
    expect(await two(request(u(3)), sign)).toEqual(answered(u(3)))
    expect(await nodeGuard('one')(request(u(4)), sign)).toEqual(answered(u(3), true))
  })

  test('what a node that is back recorded is answered everywhere', async () => {
    await codeOf(nodeGuard('one')(request(u(1)), signAndDie('one')))
    await tellerOf('one').pass()
    // Nothing is told of a claim whose request may still be under way.
    expect(await codeOf(nodeGuard('two')(request(u(2)), sign))).toBe('IDEMPOTENCY_IN_FLIGHT')
    temporary.clock.advance(CLAIM_SECONDS)
    await tellerOf('two').pass()
    expect(await codeOf(nodeGuard('two')(request(u(2)), sign))).toBe('IDEMPOTENCY_IN_FLIGHT')
    await tellerOf('one').pass()
    expect(await nodeGuard('two')(request(u(2)), sign)).toEqual(answered(u(1), true))
  })

  test('where a node that is back recorded nothing, the next request is a new one', async () => {
    await cutOff(nodeGuard('one'), request(u(1)))
    const one = tellerOf('one')
    await one.pass()
    // Another process of the node may be older than this one, and still work on it.
    expect(await codeOf(nodeGuard('two')(request(u(2)), sign))).toBe('IDEMPOTENCY_IN_FLIGHT')
    temporary.clock.advance(CLAIM_SECONDS)
    await one.pass()
    expect(await nodeGuard('two')(request(u(2)), sign)).toEqual(answered(u(2)))
  })

  test('claims without a record don’t keep the others waiting', async () => {
    for (let index = 0; index < 120; index += 1) {
      await codeOf(
        nodeGuard('one')(request(u(index), { header: `lost-${index}` }), failWith(new DeadlineExceededError())),
      )
    }
    temporary.clock.advance(1)
    await codeOf(nodeGuard('one')(request(u(200)), signAndDie('one')))
    temporary.clock.advance(CLAIM_SECONDS)
    const one = tellerOf('one')
    await one.pass()
    await one.pass()
    expect(await nodeGuard('two')(request(u(201)), sign)).toEqual(answered(u(200), true))
  })

  test.each([CLAIM_SECONDS, 3_600])(
    'a node leaves alone what any of its processes works on, though the clock steps by %p s',
    async (seconds) => {
      const teller = tellerOf('one')
      await teller.pass()
      temporary.clock.advance(2 * CLAIM_SECONDS)
      await teller.pass()
      const held = Promise.withResolvers<void>()
      const dispatched = Promise.withResolvers<void>()
      const slow = nodeGuard('one')(request(u(1)), async (uuid, onDispatch) => {
        await onDispatch(LIFETIME_SECONDS)
        dispatched.resolve()
        await held.promise
        return sign(uuid)
      })
      await dispatched.promise
      temporary.clock.step(seconds)
      for (let passed = 0; passed < CLAIM_SECONDS - 1; passed += 1) {
        await teller.pass()
        temporary.clock.advance(1)
      }
      await teller.pass()
      expect(await codeOf(nodeGuard('two')(request(u(2)), sign))).toBe('IDEMPOTENCY_IN_FLIGHT')
      held.resolve()
      expect(await slow).toEqual(answered(u(1)))
      expect(await nodeGuard('two')(request(u(2)), sign)).toEqual(answered(u(1), true))
    },
  )

  test('what was cut off before the clock stepped is settled a claim’s time after the step', async () => {
    const teller = tellerOf('one')
    await teller.pass()
    await codeOf(nodeGuard('one')(request(u(1)), failWith(new DeadlineExceededError())))
    temporary.clock.step(CLAIM_SECONDS)
    for (let passed = 0; passed <= CLAIM_SECONDS; passed += 1) {
      temporary.clock.advance(1)
      await teller.pass()
    }
    expect(await nodeGuard('two')(request(u(2)), sign)).toEqual(answered(u(2)))
  })

  test('what was not dispatched is signed elsewhere at once, and no more by its first node', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const signed: string[] = []
    const slow = nodeGuard('one')(request(u(1)), async (uuid, onDispatch) => {
      started.resolve()
      await promise
      await onDispatch(LIFETIME_SECONDS)
      signed.push(uuid)
      return sign(uuid)
    })
    await started.promise
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await nodeGuard('two')(request(u(2)), sign)).toEqual(answered(u(2)))
    resolve()
    expect(await codeOf(slow)).toBe('IDEMPOTENCY_IN_FLIGHT')
    expect(signed).toEqual([])
  })

  test('where the dispatch can’t be noted nothing is signed, and the key is free again', async () => {
    failing = 'mark'
    const run = nodeGuard('one')
    let dispatched = false
    const work = async (uuid: string, onDispatch: OnDispatch): Promise<FreshAnswer> => {
      await onDispatch(LIFETIME_SECONDS)
      dispatched = true
      return sign(uuid)
    }
    expect(await codeOf(run(request(u(1)), work))).toBe('DEPENDENCY_UNAVAILABLE')
    expect(dispatched).toBe(false)
    failing = null
    expect(await run(request(u(2)), work)).toEqual(answered(u(2)))
  })

  test('a uuid of which it is not known since when it was used is looked for a day back', async () => {
    const sinceSeconds: number[] = []
    const recall: NodeMemory['recall'] = async ({ sinceSeconds: since }) => {
      sinceSeconds.push(temporary.clock.unixSeconds() - since)
      return { outcome: 'nothing' }
    }
    const run = guard(memoryOf(recall, 'node one'))
    for (const unknown of [true, false]) {
      const header = `unknown ${unknown}`.replace(' ', '-')
      await cutOff(run, request(u(1), { header }))
      if (unknown) await temporary.store.database.execute('UPDATE idempotency SET uuid_since_seconds = 0', [])
      await run(request(u(2), { header }), sign)
    }
    expect(sinceSeconds).toEqual([86_400, CLAIM_SECONDS])
  })

  test('what the store itself knows of is taken over on any node with its uuid', async () => {
    // A guard without a memory: for sessions.
    await cutOff(guard(), request(u(1)))
    expect(await guard()(request(u(2)), sign)).toEqual(answered(u(1)))
  })
})

describe('a store that fails', () => {
  test('at the claim: nothing runs', async () => {
    failing = 'claim'
    let runs = 0
    const run = guard()(request(u(1)), async (uuid) => {
      runs += 1
      return sign(uuid)
    })
    expect(await codeOf(run)).toBe('DEPENDENCY_UNAVAILABLE')
    expect(runs).toBe(0)
  })

  test('at the end: the answer is given, the failure reported, and a retry has the same uuid', async () => {
    failing = 'complete'
    const run = guard()
    expect(await run(request(u(1)), sign)).toEqual(answered(u(1)))
    expect(reports).toHaveLength(1)
    failing = null
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await run(request(u(2)), sign)).toEqual(answered(u(1)))
  })

  test('at the release: the error is the one of the request', async () => {
    failing = 'release'
    expect(await codeOf(guard()(request(u(1)), failWith(new FieldMissingError('to'))))).toBe('MISSING_REQUIRED_FIELD')
    expect(reports).toHaveLength(1)
  })
})
