// Idempotency keys over claims in rows and in the claim log: retries, failures, takeovers, clock steps and several
// nodes.
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
const USABLE_SECONDS = 3_660
const KEEP_SECONDS = 600
const IN_FLIGHT = 'IDEMPOTENCY_IN_FLIGHT'
const MISMATCH = 'IDEMPOTENCY_MISMATCH'

let temporary: TemporaryStore
let organizationId: string
let reports: unknown[]
/** The store operation that fails; null: none. */
let failing: 'claim' | 'mark' | 'complete' | 'release' | null

const requireUp = (operation: NonNullable<typeof failing>): void => {
  if (failing === operation) throw new DependencyUnavailableError('down')
}

/** Claims of a real store, whose operations can fail. */
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

/** Stores claims and their responses as database rows. */
const rowStore: IdempotencyStore<IdempotencyClaim> = {
  ...failingClaims(async () => temporary.store.idempotency),
  complete: async (...parameters) => {
    requireUp('complete')
    return temporary.store.idempotency.complete(...parameters)
  },
}

/** The claim log as one process sees it. */
const logStore = (): IdempotencyStore<IdempotencyClaim> => {
  const { store, clock } = temporary
  const opening = openLoggedClaims({ database: store.database, clock, node: 'this', usableSeconds: USABLE_SECONDS })
  return failingClaims(() => opening)
}

/** A decision log that is searched with `recall`. Without the name of a node, it is the only place of the answers. */
const memoryOf = (recall: NodeMemory['recall'], node = '', find = recall): NodeMemory => {
  return { node, recall, find, keepSeconds: node === '' ? KEEP_SECONDS : 86_400, usableSeconds: USABLE_SECONDS }
}
const emptyLog = memoryOf(async () => ({ outcome: 'nothing' }))

const guard = (memory?: NodeMemory) =>
  createIdempotencyGuard({
    store: memory?.node === '' ? logStore() : rowStore,
    clock: temporary.clock,
    claimSeconds: CLAIM_SECONDS,
    report: (error) => reports.push(error),
    ...(memory === undefined ? {} : { memory }),
  })
type Run = ReturnType<typeof guard>
type Work = (uuid: string, onDispatch: OnDispatch) => Promise<FreshAnswer>

const requestOf = (number: number, changes: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  organizationId,
  keyId: 'key 1',
  header: 'order-7',
  route: '/v2/attestation',
  body: '{"from":"0x1"}',
  uuid: u(number),
  ...changes,
})
const sign = async (uuid: string): Promise<FreshAnswer> => {
  return { body: JSON.stringify({ uuid }), keepSeconds: LIFETIME_SECONDS }
}
const dispatchAndSign = async (uuid: string, onDispatch: OnDispatch): Promise<FreshAnswer> => {
  await onDispatch(LIFETIME_SECONDS)
  return sign(uuid)
}
const failWith =
  (error: unknown): Work =>
  async (_uuid, onDispatch) => {
    await onDispatch(LIFETIME_SECONDS)
    throw error
  }
const send = (run: Run, number: number, changes: Partial<IdempotentRequest> = {}, work: Work = sign) =>
  run(requestOf(number, changes), work)
const answered = (number: number, replayed = false) => {
  return { status: 200, body: JSON.stringify({ uuid: u(number) }), replayed }
}

const errorOf = async (answer: Promise<unknown>): Promise<CountersignError> => {
  const error = await answer.then(
    () => new Error('the request was answered'),
    (cause: unknown) => cause,
  )
  if (error instanceof CountersignError) return error
  throw error
}
const codeOf = async (answer: Promise<unknown>): Promise<ErrorCode> => (await errorOf(answer)).code
const retryAfter = async (answer: Promise<unknown>): Promise<number | undefined> => {
  const { code, retryAfterSeconds } = await errorOf(answer)
  expect(code).toBe(IN_FLIGHT)
  return retryAfterSeconds
}

/** Sends a request whose deadline passes after its dispatch. */
const timeOut = async (run: Run, number: number, changes: Partial<IdempotentRequest> = {}): Promise<void> => {
  expect(await codeOf(send(run, number, changes, failWith(new DeadlineExceededError())))).toBe('DEADLINE_EXCEEDED')
}
/** Sends a request that times out, and waits until its claim ends. */
const abandon = async (run: Run, number: number, changes: Partial<IdempotentRequest> = {}): Promise<void> => {
  await timeOut(run, number, changes)
  temporary.clock.advance(CLAIM_SECONDS)
}

/** Starts a request that signs once `end` is called. */
const hold = async (run: Run, number: number, dispatch: 'before' | 'after' | 'never' = 'before') => {
  const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const signed: string[] = []
  const answer = send(run, number, {}, async (uuid, onDispatch) => {
    if (dispatch === 'before') await onDispatch(LIFETIME_SECONDS)
    started.resolve()
    await ended.promise
    if (dispatch === 'after') await onDispatch(LIFETIME_SECONDS)
    signed.push(uuid)
    return sign(uuid)
  })
  await started.promise
  return { answer, signed, end: ended.resolve }
}

beforeEach(async () => {
  temporary = await openTemporaryStore()
  organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
  reports = []
  failing = null
})
afterEach(() => temporary.remove())

test('requests without the header are independent and do not use the store', async () => {
  failing = 'claim'
  const run = guard()
  for (const number of [1, 2]) expect(await send(run, number, { header: null })).toEqual(answered(number))
  const created = async () => ({ body: 'x', status: 201, keepSeconds: 1 })
  expect(await send(run, 3, { header: null }, created)).toMatchObject({ status: 201 })
})

describe('the header', () => {
  test.each(['', 'x'.repeat(256), 'a b', 'a, b', 'é', 'a\u007f'])('%p is refused before any work', async (header) => {
    let runs = 0
    const refused = send(guard(), 1, { header }, async (uuid) => {
      runs += 1
      return sign(uuid)
    })
    expect([await codeOf(refused), runs]).toEqual(['INVALID_HEADER', 0])
  })

  test('can have 255 visible characters', async () => {
    expect(await send(guard(), 1, { header: '~'.repeat(255) })).toEqual(answered(1))
  })
})

describe('a retry', () => {
  test('gets the first response while the attestation is valid', async () => {
    const run = guard()
    expect(await send(run, 1)).toEqual(answered(1))
    expect(await send(run, 2)).toEqual(answered(1, true))
    temporary.clock.advance(LIFETIME_SECONDS)
    expect(await send(run, 3)).toEqual(answered(1, true))
    temporary.clock.advance(3_600)
    expect(await send(run, 4)).toEqual(answered(4))
  })

  test('is refused while the first request is in flight', async () => {
    const run = guard()
    const first = await hold(run, 1, 'never')
    expect(await codeOf(send(run, 2))).toBe(IN_FLIGHT)
    first.end()
    expect(await first.answer).toEqual(answered(1))
  })

  test('runs once if fifty identical requests arrive simultaneously', async () => {
    const run = guard()
    let runs = 0
    const work = async (uuid: string) => {
      runs += 1
      return sign(uuid)
    }
    const results = await Promise.allSettled(Array.from({ length: 50 }, (_, number) => send(run, number, {}, work)))
    const outcomes = results.map((result) => (result.status === 'fulfilled' ? result.value.body : result.reason.code))
    expect(runs).toBe(1)
    expect(new Set(outcomes.filter((outcome) => outcome !== IN_FLIGHT)).size).toBe(1)
  })

  test.each<[string, Partial<IdempotentRequest>]>([
    ['another body', { body: '{"from":"0x2"}' }],
    ['the same body with different whitespace', { body: '{"from": "0x1"}' }],
    ['another route', { route: '/v1/task' }],
    ['another boundary between route and body', { route: '/v2/attestation\n{"from"', body: ':"0x1"}' }],
  ])('with %s is refused', async (_name, changes) => {
    const run = guard()
    await send(run, 1)
    expect(await codeOf(send(run, 2, changes))).toBe(MISMATCH)
  })

  test('with another API key or organization is another request', async () => {
    const run = guard()
    await send(run, 1)
    expect(await send(run, 2, { keyId: 'key 2' })).toEqual(answered(2))
    const other = (await temporary.store.organizations.create({ slug: 'other', name: 'Other' })).id
    expect(await send(run, 3, { organizationId: other })).toEqual(answered(3))
  })
})

describe('after an error', () => {
  const MAY_HAVE_SIGNED: ErrorCode[] = ['DEADLINE_EXCEEDED', 'INTERNAL', 'DEPENDENCY_UNAVAILABLE', 'SHUTTING_DOWN']

  test.each(Object.keys(ERRORS) as ErrorCode[])(
    '%s: a retry keeps the uuid if it may have been signed',
    async (code) => {
      const run = guard()
      const error = new CountersignError(code, 'text')
      const isKept = MAY_HAVE_SIGNED.includes(code)
      expect(await codeOf(send(run, 1, {}, failWith(error)))).toBe(code)
      expect(mayHaveSigned(error)).toBe(isKept)
      if (isKept) {
        // The first request may still sign until its deadline.
        expect(await codeOf(send(run, 2))).toBe(IN_FLIGHT)
        temporary.clock.advance(CLAIM_SECONDS)
      }
      expect(await send(run, 2, isKept ? {} : { body: 'corrected' })).toEqual(answered(isKept ? 1 : 2))
    },
  )

  test.each(MAY_HAVE_SIGNED)('%s that excludes a signature: the key is free immediately', async (code) => {
    const run = guard()
    const error = new CountersignError(code, 'text', { nothingSigned: true })
    expect(await codeOf(send(run, 1, {}, failWith(error)))).toBe(code)
    expect(await send(run, 2)).toEqual(answered(2))
  })

  test('a retry gets the remaining time of the claim', async () => {
    const run = guard()
    await codeOf(send(run, 1, {}, failWith(new DependencyUnavailableError('the log of a lost worker'))))
    expect(await retryAfter(send(run, 2))).toBe(CLAIM_SECONDS)
    temporary.clock.advance(CLAIM_SECONDS - 3)
    expect(await retryAfter(send(run, 2))).toBe(3)
    temporary.clock.advance(3)
    expect(await send(run, 2)).toEqual(answered(1))
  })

  test('before the dispatch, the key is free immediately', async () => {
    const run = guard()
    const early = () => Promise.reject(new DependencyUnavailableError('the chain is unavailable'))
    expect(await codeOf(send(run, 1, {}, early))).toBe('DEPENDENCY_UNAVAILABLE')
    expect(await send(run, 2)).toEqual(answered(2))
  })

  test('of an unknown kind, the uuid counts as signed', async () => {
    const run = guard()
    await expect(send(run, 1, {}, failWith(new TypeError('x')))).rejects.toThrow(TypeError)
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await send(run, 2)).toEqual(answered(1))
  })

  test('of a full queue, the key is free, even for a different request', async () => {
    const run = guard()
    for (const number of [1, 2]) {
      expect(await codeOf(send(run, number, {}, failWith(new QueueFullError())))).toBe('OVERLOADED')
    }
    expect(await send(run, 3, { body: 'other' })).toEqual(answered(3))
    expect(await codeOf(send(run, 4))).toBe(MISMATCH)
  })
})

describe('after a timeout', () => {
  const RECORDED = { body: '{"recorded":true}', keepSeconds: 10 }
  test.each<[string, Recalled, object]>([
    [
      'gets a recorded answer',
      { outcome: 'decided', answer: RECORDED },
      { status: 200, body: RECORDED.body, replayed: true },
    ],
    ['keeps the uuid if nothing was recorded', { outcome: 'nothing' }, answered(1)],
    ['is a new request if its attestation expired', { outcome: 'expired' }, answered(2)],
  ])('a retry %s', async (_name, recalled, expected) => {
    const searches: unknown[] = []
    const run = guard(
      memoryOf(async ({ uuid, sinceSeconds }) => {
        searches.push([uuid, temporary.clock.unixSeconds() - sinceSeconds])
        return recalled
      }),
    )
    await abandon(run, 1)
    expect(await send(run, 2)).toEqual(expected as never)
    // The search starts at the time of the claim.
    expect(searches).toEqual([[u(1), CLAIM_SECONDS]])
  })

  test('each search starts at the first use of the uuid, even if its answer could not be stored', async () => {
    const ages: number[] = []
    const run = guard(
      memoryOf(async ({ uuid, sinceSeconds }) => {
        ages.push(temporary.clock.unixSeconds() - sinceSeconds)
        return { outcome: 'decided', answer: await sign(uuid) }
      }),
    )
    failing = 'complete'
    for (let round = 0; round < 3; round++) {
      expect(await send(run, round)).toEqual(answered(0, round > 0))
      temporary.clock.advance(CLAIM_SECONDS)
    }
    expect(ages).toEqual([CLAIM_SECONDS, 2 * CLAIM_SECONDS])
  })

  test('the uuid that replaces an expired one is kept for further retries', async () => {
    const searches: string[] = []
    const recorded = new Map<string, Recalled>([[u(1), { outcome: 'expired' }]])
    const run = guard(
      memoryOf(async ({ uuid }) => {
        searches.push(uuid)
        return recorded.get(uuid) ?? { outcome: 'nothing' }
      }),
    )
    const signed: string[] = []
    const signAndFail: Work = async (uuid, onDispatch) => {
      await onDispatch(LIFETIME_SECONDS)
      signed.push(uuid)
      throw new DeadlineExceededError()
    }
    for (const number of [1, 2]) {
      expect(await codeOf(send(run, number, {}, signAndFail))).toBe('DEADLINE_EXCEEDED')
      temporary.clock.advance(CLAIM_SECONDS)
    }
    expect(signed).toEqual([u(1), u(2)])
    recorded.set(u(2), { outcome: 'decided', answer: { body: answered(2).body, keepSeconds: 10 } })
    expect(await send(run, 3)).toEqual(answered(2, true))
    expect(searches).toEqual([u(1), u(2)])
    expect(await send(run, 4)).toEqual(answered(2, true))
  })

  test('a retry that loses its claim during the search does not sign', async () => {
    const [search, started] = [Promise.withResolvers<Recalled>(), Promise.withResolvers<void>()]
    const run = guard(
      memoryOf(() => {
        started.resolve()
        return search.promise
      }),
    )
    await abandon(run, 1)
    const slow = codeOf(send(run, 2))
    await started.promise
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await send(guard(emptyLog), 3)).toEqual(answered(1))
    search.resolve({ outcome: 'expired' })
    expect(await slow).toBe(IN_FLIGHT)
  })

  test('further timeouts keep the uuid and the body of the first request', async () => {
    const run = guard()
    for (let attempt = 0; attempt < 3; attempt++) await abandon(run, attempt)
    expect(await codeOf(send(run, 8, { body: 'other' }))).toBe(MISMATCH)
    expect(await send(run, 9)).toEqual(answered(0))
  })

  test('a refused retry keeps the uuid, because the first request may have been signed', async () => {
    const run = guard()
    await abandon(run, 1)
    await codeOf(send(run, 2, {}, failWith(new QueueFullError())))
    expect(await codeOf(send(run, 3))).toBe(IN_FLIGHT)
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await send(run, 3)).toEqual(answered(1))
  })

  test('a request that ends after its takeover is not answered', async () => {
    const run = guard()
    const first = await hold(run, 1, 'never')
    temporary.clock.advance(CLAIM_SECONDS)
    const late = Promise.withResolvers<FreshAnswer>()
    const second = send(guard(), 2, {}, () => late.promise)
    // The second request holds the claim once a third is refused.
    expect(await codeOf(send(guard(), 3))).toBe(IN_FLIGHT)
    first.end()
    expect(await codeOf(first.answer)).toBe(IN_FLIGHT)
    late.resolve({ body: 'on time', keepSeconds: LIFETIME_SECONDS })
    expect(await second).toEqual({ status: 200, body: 'on time', replayed: false })
    expect((await send(run, 4)).body).toBe('on time')
  })
})

describe.each<[string, () => Run]>([
  ['in rows', () => guard()],
  ['in the log', () => guard(emptyLog)],
])('a claim %s', (_where, open) => {
  test.each([CLAIM_SECONDS, KEEP_SECONDS + CLAIM_SECONDS, 40 * 86_400, -CLAIM_SECONDS])(
    'of a running request is not taken over in its process if the clock steps by %p s',
    async (seconds) => {
      const run = open()
      const first = await hold(run, 1)
      temporary.clock.step(seconds)
      expect(await codeOf(send(run, 2))).toBe(IN_FLIGHT)
      expect(await codeOf(send(run, 3, { body: 'other' }))).toBe(MISMATCH)
      // The claim outlasts its time by both clocks, and the cleanup of expired claims.
      temporary.clock.advance(2 * CLAIM_SECONDS)
      await send(run, 4, { header: 'order-8' })
      expect(await codeOf(send(run, 2))).toBe(IN_FLIGHT)
      first.end()
      expect(await first.answer).toEqual(answered(1))
      expect(first.signed).toEqual([u(1)])
    },
  )

  test.each([CLAIM_SECONDS, KEEP_SECONDS / 2, 3_600])(
    'of a running request is not taken over by another process before its deadline if the clock steps by %p s',
    async (seconds) => {
      const [one, other] = [open(), open()]
      temporary.clock.advance(3_600)
      const first = await hold(one, 1)
      const signed: string[] = []
      const retry = () =>
        send(other, 2, {}, (uuid) => {
          signed.push(uuid)
          return sign(uuid)
        })
      temporary.clock.step(seconds)
      expect(await codeOf(retry())).toBe(IN_FLIGHT)
      temporary.clock.advance(CLAIM_SECONDS - 1)
      expect(await codeOf(retry())).toBe(IN_FLIGHT)
      expect(signed).toEqual([])
      temporary.clock.advance(1)
      expect((await retry()).body).toBe(answered(1).body)
      first.end()
      await first.answer.catch((error: unknown) => error)
    },
  )

  test('of a request that timed out is kept for its time by the monotonic clock', async () => {
    const run = open()
    await timeOut(run, 1)
    temporary.clock.step(CLAIM_SECONDS)
    temporary.clock.advance(CLAIM_SECONDS - 3)
    await send(run, 4, { header: 'order-8' })
    expect(await retryAfter(send(run, 2))).toBe(3)
    temporary.clock.advance(3)
    expect(await send(run, 2)).toEqual(answered(1))
  })

  test('of two simultaneous requests is signed once if the clock steps between them', async () => {
    const run = open()
    const ended = Promise.withResolvers<void>()
    const signed: string[] = []
    const outcomeOf = (number: number) =>
      codeOf(
        send(run, number, {}, async (uuid, onDispatch) => {
          await onDispatch(LIFETIME_SECONDS)
          await ended.promise
          signed.push(uuid)
          return sign(uuid)
        }),
      ).catch(() => 'answered')
    const first = outcomeOf(1)
    temporary.clock.step(CLAIM_SECONDS)
    expect(await Promise.race([first, outcomeOf(2)])).toBe(IN_FLIGHT)
    ended.resolve()
    await first
    expect(signed).toEqual([u(1)])
  })
})

test('an answer that is stored in a row is repeated while its attestation can be valid, even if the clock was ahead', async () => {
  const run = guard(memoryOf(async () => ({ outcome: 'nothing' }), 'one'))
  expect(await send(run, 1)).toEqual(answered(1))
  temporary.clock.step(86_400)
  await send(run, 4, { header: 'order-8' })
  temporary.clock.advance(LIFETIME_SECONDS)
  expect(await send(run, 2)).toEqual(answered(1, true))
  temporary.clock.advance(USABLE_SECONDS)
  expect(await send(run, 3)).toEqual(answered(3))
})

describe('an answer in the decision log', () => {
  let log: Map<string, FreshAnswer>
  let searches: string[]
  const search =
    (depth: string) =>
    async ({ uuid }: SoughtDecision): Promise<Recalled> => {
      searches.push(`${depth} ${uuid}`)
      const answer = log.get(uuid)
      return answer === undefined ? { outcome: 'nothing' } : { outcome: 'decided', answer }
    }
  const open = () => guard(memoryOf(search('all'), '', search('recent')))
  const record: Work = async (uuid, onDispatch) => {
    const answer = await dispatchAndSign(uuid, onDispatch)
    log.set(uuid, answer)
    return answer
  }
  const sendRecorded = (run: Run, number: number, changes = {}) => send(run, number, changes, record)
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

  test('is not stored elsewhere, and is read for retries: immediately, in another process, and later', async () => {
    failing = 'complete'
    expect(await sendRecorded(open(), 1)).toEqual(answered(1))
    expect(await temporary.store.database.query('SELECT uuid FROM idempotency')).toEqual([])
    expect(await sendRecorded(open(), 2)).toEqual(answered(1, true))
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await sendRecorded(open(), 3)).toEqual(answered(1, true))
    expect(searches).toEqual([`recent ${u(1)}`, `all ${u(1)}`])
    expect([...log.keys()]).toEqual([u(1)])
    expect(reports).toEqual([])
  })

  test('is not searched by the process that is working on it', async () => {
    const run = open()
    const first = await hold(run, 1, 'never')
    expect(await codeOf(sendRecorded(run, 2))).toBe(IN_FLIGHT)
    expect(searches).toEqual([])
    // Another process searches, finds nothing, and refuses.
    expect(await codeOf(sendRecorded(open(), 3))).toBe(IN_FLIGHT)
    expect(searches).toEqual([`recent ${u(1)}`])
    first.end()
    expect(await first.answer).toEqual(answered(1))
    expect(await codeOf(sendRecorded(run, 4))).toBe(IN_FLIGHT)
    expect(searches).toEqual([`recent ${u(1)}`, `recent ${u(1)}`])
  })

  test('is not searched after a timeout in the same process until the claim ends', async () => {
    const run = open()
    const recordAndTimeOut: Work = async (uuid, onDispatch) => {
      await record(uuid, onDispatch)
      throw new DeadlineExceededError()
    }
    expect(await codeOf(send(run, 1, {}, recordAndTimeOut))).toBe('DEADLINE_EXCEEDED')
    expect(await codeOf(sendRecorded(run, 2))).toBe(IN_FLIGHT)
    expect(searches).toEqual([])
    // A restarted process does not know the request, and searches.
    expect(await sendRecorded(open(), 3)).toEqual(answered(1, true))
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await sendRecorded(run, 4)).toEqual(answered(1, true))
    expect(searches).toEqual([`recent ${u(1)}`, `all ${u(1)}`])
  })

  test('is not repeated for a different body', async () => {
    const run = open()
    await sendRecorded(run, 1)
    expect(await codeOf(sendRecorded(run, 2, { body: 'other' }))).toBe(MISMATCH)
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await codeOf(sendRecorded(run, 2, { body: 'other' }))).toBe(MISMATCH)
    expect(searches).toEqual([])
  })

  test('with a long-lived attestation keeps its key as long, from before it is signed', async () => {
    let kept = 0
    await send(open(), 1, {}, async (uuid, onDispatch) => {
      await onDispatch(3_600)
      kept = await keptSeconds()
      return sign(uuid)
    })
    expect(kept).toBe(CLAIM_SECONDS + 3_600 + 60)
  })

  test('is not signed if its key cannot be kept as long', async () => {
    failing = 'mark'
    const work: Work = async (uuid, onDispatch) => {
      await onDispatch(3_600)
      return record(uuid, onDispatch)
    }
    expect(await codeOf(send(open(), 1, {}, work))).toBe('DEPENDENCY_UNAVAILABLE')
    expect(log.size).toBe(0)
    // A claim is kept longer than this attestation, without a second write.
    expect(await sendRecorded(open(), 2)).toEqual(answered(2))
    expect(await keptSeconds()).toBe(CLAIM_SECONDS + KEEP_SECONDS)
  })

  test('expires despite repeated retries', async () => {
    const run = open()
    await sendRecorded(run, 1)
    for (let seconds = 0; seconds < CLAIM_SECONDS + KEEP_SECONDS; seconds += CLAIM_SECONDS) {
      expect(await sendRecorded(run, 2)).toEqual(answered(1, true))
      temporary.clock.advance(CLAIM_SECONDS)
    }
    expect(await sendRecorded(run, 3)).toEqual(answered(3))
  })

  test('of a takeover without a record is signed under the first uuid, whose time starts again', async () => {
    const run = open()
    await abandon(run, 1)
    temporary.clock.advance(KEEP_SECONDS - 10)
    expect(await sendRecorded(run, 2)).toEqual(answered(1))
    expect(searches).toEqual([`all ${u(1)}`])
    expect(await keptSeconds()).toBe(CLAIM_SECONDS + LIFETIME_SECONDS + 60)
  })
})

describe('with several nodes', () => {
  /** The decision log of each node. */
  let logs: Map<string, Map<string, FreshAnswer>>
  const memoryOfNode = (node: string): NodeMemory =>
    memoryOf(async ({ uuid }) => {
      const answer = logs.get(node)?.get(uuid)
      return answer === undefined ? { outcome: 'nothing' } : { outcome: 'decided', answer }
    }, node)
  const on = (node: string) => guard(memoryOfNode(node))
  /** Signs and records, and times out before the answer is stored. */
  const recordAndTimeOut =
    (node: string): Work =>
    async (uuid, onDispatch) => {
      logs.set(node, new Map([[uuid, await dispatchAndSign(uuid, onDispatch)]]))
      throw new DeadlineExceededError()
    }
  const tellerOf = (node: string) =>
    createClaimTeller({
      memory: memoryOfNode(node),
      claims: temporary.store.idempotency,
      clock: temporary.clock,
      claimSeconds: CLAIM_SECONDS,
      after: () => () => undefined,
      onError: (error) => reports.push(error),
    })

  beforeEach(() => {
    logs = new Map()
  })

  test('a request that a lost node may have signed gets another uuid elsewhere once that attestation expired', async () => {
    await codeOf(send(on('one'), 1, {}, recordAndTimeOut('one')))
    temporary.clock.advance(CLAIM_SECONDS + 5)
    expect(await retryAfter(send(on('two'), 2))).toBe(USABLE_SECONDS - 5)
    temporary.clock.advance(USABLE_SECONDS - 5)
    expect(await send(on('two'), 3)).toEqual(answered(3))
    expect(await send(on('one'), 4)).toEqual(answered(3, true))
  })

  test('a record of a node that returned is repeated on every node', async () => {
    await codeOf(send(on('one'), 1, {}, recordAndTimeOut('one')))
    await tellerOf('one').pass()
    // The teller reports no claim whose request may still be running.
    expect(await codeOf(send(on('two'), 2))).toBe(IN_FLIGHT)
    temporary.clock.advance(CLAIM_SECONDS)
    await tellerOf('two').pass()
    expect(await codeOf(send(on('two'), 2))).toBe(IN_FLIGHT)
    await tellerOf('one').pass()
    expect(await send(on('two'), 2)).toEqual(answered(1, true))
  })

  test('the next request is treated as new if a node that returned has no record', async () => {
    await abandon(on('one'), 1)
    const teller = tellerOf('one')
    await teller.pass()
    // An older process of the node may still be working on the request.
    expect(await codeOf(send(on('two'), 2))).toBe(IN_FLIGHT)
    temporary.clock.advance(CLAIM_SECONDS)
    await teller.pass()
    expect(await send(on('two'), 2)).toEqual(answered(2))
  })

  test('claims without a record do not delay others', async () => {
    for (let index = 0; index < 120; index += 1) await timeOut(on('one'), index, { header: `lost-${index}` })
    temporary.clock.advance(1)
    await codeOf(send(on('one'), 200, {}, recordAndTimeOut('one')))
    temporary.clock.advance(CLAIM_SECONDS)
    const teller = tellerOf('one')
    await teller.pass()
    await teller.pass()
    expect(await send(on('two'), 201)).toEqual(answered(200, true))
  })

  test.each([CLAIM_SECONDS, 3_600])(
    'a running request of any process of a node is left alone if the clock steps by %p s',
    async (seconds) => {
      const teller = tellerOf('one')
      await teller.pass()
      temporary.clock.advance(2 * CLAIM_SECONDS)
      await teller.pass()
      const slow = await hold(on('one'), 1)
      temporary.clock.step(seconds)
      for (let passed = 0; passed < CLAIM_SECONDS - 1; passed += 1) {
        await teller.pass()
        temporary.clock.advance(1)
      }
      await teller.pass()
      expect(await codeOf(send(on('two'), 2))).toBe(IN_FLIGHT)
      slow.end()
      expect(await slow.answer).toEqual(answered(1))
      expect(await send(on('two'), 2)).toEqual(answered(1, true))
    },
  )

  test('a request that timed out before a clock step is settled one claim time after the step', async () => {
    const teller = tellerOf('one')
    await teller.pass()
    await timeOut(on('one'), 1)
    temporary.clock.step(CLAIM_SECONDS)
    for (let passed = 0; passed <= CLAIM_SECONDS; passed += 1) {
      temporary.clock.advance(1)
      await teller.pass()
    }
    expect(await send(on('two'), 2)).toEqual(answered(2))
  })

  test('a request that was not dispatched is signed elsewhere, and not by its first node', async () => {
    const slow = await hold(on('one'), 1, 'after')
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await send(on('two'), 2)).toEqual(answered(2))
    slow.end()
    expect(await codeOf(slow.answer)).toBe(IN_FLIGHT)
    expect(slow.signed).toEqual([])
  })

  test('a dispatch that cannot be stored prevents the signature and releases the key', async () => {
    failing = 'mark'
    const run = on('one')
    let isDispatched = false
    const work: Work = async (uuid, onDispatch) => {
      await onDispatch(LIFETIME_SECONDS)
      isDispatched = true
      return sign(uuid)
    }
    expect(await codeOf(send(run, 1, {}, work))).toBe('DEPENDENCY_UNAVAILABLE')
    expect(isDispatched).toBe(false)
    failing = null
    expect(await send(run, 2, {}, work)).toEqual(answered(2))
  })

  test('a uuid without the time of its first use is searched for one day back', async () => {
    const ages: number[] = []
    const recall: NodeMemory['recall'] = async ({ sinceSeconds }) => {
      ages.push(temporary.clock.unixSeconds() - sinceSeconds)
      return { outcome: 'nothing' }
    }
    const run = guard(memoryOf(recall, 'node one'))
    for (const header of ['unknown', 'known']) {
      await abandon(run, 1, { header })
      if (header === 'unknown')
        await temporary.store.database.execute('UPDATE idempotency SET uuid_since_seconds = 0', [])
      await send(run, 2, { header })
    }
    expect(ages).toEqual([86_400, CLAIM_SECONDS])
  })

  test('requests without a decision log, such as sessions, keep their uuid on any node', async () => {
    await abandon(guard(), 1)
    expect(await send(guard(), 2)).toEqual(answered(1))
  })
})

describe('a store that fails', () => {
  test('at the claim prevents any work', async () => {
    failing = 'claim'
    let runs = 0
    const refused = send(guard(), 1, {}, async (uuid) => {
      runs += 1
      return sign(uuid)
    })
    expect([await codeOf(refused), runs]).toEqual(['DEPENDENCY_UNAVAILABLE', 0])
  })

  test('at the end is reported; the request is answered, and a retry has the same uuid', async () => {
    failing = 'complete'
    const run = guard()
    expect(await send(run, 1)).toEqual(answered(1))
    expect(reports).toHaveLength(1)
    failing = null
    temporary.clock.advance(CLAIM_SECONDS)
    expect(await send(run, 2)).toEqual(answered(1))
  })

  test('at the release is reported, and the request fails with its own error', async () => {
    failing = 'release'
    expect(await codeOf(send(guard(), 1, {}, failWith(new FieldMissingError('to'))))).toBe('MISSING_REQUIRED_FIELD')
    expect(reports).toHaveLength(1)
  })
})
