// The gate: early refusals, their cost and order, revoked keys, and requests that take too long.
import { beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { type ApiKeyCredential, hashApiKey, mintApiKey, SCOPES_BY_KIND } from '../../src/domain/api-key.ts'
import { type CountersignError, DeadlineExceededError, QueueFullError } from '../../src/domain/errors.ts'
import { nextTurn } from '../../src/lib/time.ts'
import { createAuthenticator } from '../../src/server/authenticate.ts'
import { createDeadlines } from '../../src/server/deadline.ts'
import { createRefusalPacer } from '../../src/server/event-loop-turns.ts'
import { type AdmittedRequest, createGate } from '../../src/server/gate.ts'
import { createRateLimiter } from '../../src/server/rate-limit.ts'
import { API_KEY_CHALLENGE, jsonResponse, problemResponse, repeatedProblemResponse } from '../../src/server/response.ts'
import { createManualClock, createManualTimers, type ManualClock } from './manual-clock.ts'

const REFUSAL = new QueueFullError(7)

const issue = (
  organizationId: string,
  expiresAtSeconds: number | null = null,
): ApiKeyCredential & { readonly text: string } => {
  const { text, keyId } = mintApiKey('attestation', 'live')
  return {
    text,
    keyId,
    organizationId,
    kind: 'attestation',
    environment: 'live',
    name: 'test',
    scopes: SCOPES_BY_KIND.attestation,
    createdAtSeconds: 0,
    expiresAtSeconds,
    revokedAtSeconds: null,
    lastUsedAtSeconds: null,
    replacedByKeyId: null,
    hash: hashApiKey(text),
    rateLimit: { requestsPerSecond: 1, burst: 5 },
  }
}

const [flooding, quiet, unknown] = [issue('org_flooding'), issue('org_quiet'), issue('org_unknown')]
const expiring = issue('org_quiet', createManualClock().unixSeconds() + 1)

let clock: ManualClock
let refusal: CountersignError | null
let handled: number
let isStopping: boolean
let turnEnds: (() => void)[]
let recorded: { readonly status: number; readonly durationMs: number }[]
let latencies: (readonly [organizationId: string, durationMs: number])[]
let errors: string[]
let reported: unknown[]
let late: unknown[]
/** The lookup of a key that is not cached. */
let lookup: Promise<void> | undefined

beforeEach(() => {
  clock = createManualClock()
  refusal = REFUSAL
  handled = 0
  isStopping = false
  turnEnds = []
  recorded = []
  latencies = []
  errors = []
  reported = []
  late = []
  lookup = undefined
})

const statuses = () => recorded.map(({ status }) => status)

const createEndpoint = (perTurn = 100, work: (request: AdmittedRequest) => Promise<void> = async () => undefined) => {
  const keys = new Map([flooding, quiet, expiring].map((key) => [key.keyId, key]))
  const authenticator = createAuthenticator({
    clock,
    findKey: async (keyId) => {
      await lookup
      return keys.get(keyId) ?? null
    },
  })
  const checks = spyOn(authenticator, 'authenticate')
  const revoke = ({ keyId }: ApiKeyCredential): void => {
    keys.delete(keyId)
    authenticator.invalidate(keyId)
  }
  const timers = createManualTimers()
  const deadlines = createDeadlines({
    clock,
    durationMs: 1_000,
    after: timers.after,
    reportLate: (error) => late.push(error),
  })
  const gate = createGate({
    authenticator,
    limiter: createRateLimiter({ clock }),
    deadlines,
    requestIds: (header) => header ?? 'made-here',
    monotonicMs: clock.monotonicMs,
    metrics: {
      route: () => (status, durationMs) => recorded.push({ status, durationMs }),
      recordError: (code) => errors.push(code),
    },
    latency: { record: (organizationId, durationMs) => latencies.push([organizationId, durationMs]) },
    report: (error) => reported.push(error),
    lifecycle: {
      get stopping() {
        return isStopping
      },
    },
    clientAddress: (peer) => peer,
    pacer: createRefusalPacer({ perTurn, endOfTurn: (callback) => turnEnds.push(callback) }),
  })
  const gated = gate(
    {
      method: 'POST',
      route: '/test',
      scope: 'attestation',
      decides: true,
      challenge: API_KEY_CHALLENGE,
      readKey: (headers) => headers.get('x-api-key'),
      refusal: ({ organizationId }) => (organizationId === flooding.organizationId ? refusal : null),
    },
    async (admitted) => {
      await work(admitted)
      handled += 1
      return jsonResponse('{}', admitted.requestId, { rateLimit: admitted.rateLimit })
    },
  )
  const server = { requestIP: () => ({ address: '192.0.2.7', port: 1, family: 'IPv4' }) as const }
  return {
    send: ({ text }: { readonly text: string }) => gated(requestOf(text), server),
    sendRequest: (request: Request) => gated(request, server),
    deadlines,
    timers,
    revoke,
    checks: () => checks.mock.calls.length,
    lookupOwners: () => checks.mock.calls.map(([, , owner]) => owner.lookupOwner()),
  }
}

const requestOf = (key: string): Request =>
  new Request('http://127.0.0.1/test', {
    method: 'POST',
    headers: { 'x-api-key': key, 'x-request-id': 'mine' },
    body: '{}',
  })
const endTurn = (): void => {
  for (const end of turnEnds.splice(0)) end()
}

test('the lookup of a key belongs to the client’s network, or to the organization of a valid key', async () => {
  const { send, lookupOwners } = createEndpoint()
  await send(unknown)
  await send(quiet)
  expect(lookupOwners()).toEqual(['192.0.2.7', quiet.organizationId])
})

test('latencies include verdicts and timeouts, but not refusals', async () => {
  refusal = null
  const { send } = createEndpoint(100, async () => clock.advance(1))
  await send(quiet)
  expect(latencies).toEqual([[quiet.organizationId, 1]])
  refusal = REFUSAL
  for (const key of [flooding, unknown]) await send(key)
  for (let n = 0; n < 6; n++) await send(quiet)
  expect(statuses()).toEqual([200, 503, 401, 200, 200, 200, 200, 429, 429])
  expect(latencies).toHaveLength(5)
})

describe('a request that is refused early', () => {
  test('gets the time of its next attempt, and is counted once', async () => {
    const { send, deadlines } = createEndpoint()
    const response = await send(flooding)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('7')
    expect(await response.json()).toMatchObject({ code: 'OVERLOADED', status: 503, request_id: 'mine' })
    expect([statuses(), errors, reported, deadlines.active()]).toEqual([[503], ['OVERLOADED'], [REFUSAL], 0])
  })

  test('has no effects: its body is unread, the limit of its key is unused, and its work is not started', async () => {
    const { send, sendRequest } = createEndpoint()
    for (let number = 0; number < 20; number++) {
      const request = requestOf(flooding.text)
      expect((await sendRequest(request)).status).toBe(503)
      expect(request.bodyUsed).toBe(false)
    }
    expect(handled).toBe(0)
    refusal = null
    const response = await send(flooding)
    expect(response.status).toBe(200)
    expect(response.headers.get('ratelimit-remaining')).toBe('4')
  })

  test('does not affect another organization, and its reason is hidden from callers without the key', async () => {
    const { send } = createEndpoint()
    const forged = flooding.text.slice(0, -4) + (flooding.text.endsWith('AAAA') ? 'BBBB' : 'AAAA')
    for (const [key, status] of [
      [flooding, 503],
      [quiet, 200],
      [unknown, 401],
      [{ text: forged }, 401],
    ] as const) {
      expect((await send(key)).status).toBe(status)
    }
  })

  test('waits for the end of a turn with too many refusals, but admitted requests do not', async () => {
    const { send } = createEndpoint(1)
    // The keys are cached first.
    for (const key of [quiet, flooding]) await send(key)
    endTurn()
    recorded = []
    const [first, second] = [send(flooding), send(flooding)]
    expect((await first).status).toBe(503)
    expect((await send(quiet)).status).toBe(200)
    expect(statuses()).toEqual([503, 200])
    clock.advance(3)
    endTurn()
    expect((await second).status).toBe(503)
    expect(recorded.at(-1)).toEqual({ status: 503, durationMs: 3 })
  })

  test('closes its connection while the service stops', async () => {
    const { send } = createEndpoint()
    const connectionOf = async (key: ApiKeyCredential & { text: string }) => (await send(key)).headers.get('connection')
    expect(await connectionOf(flooding)).toBeNull()
    isStopping = true
    expect([await connectionOf(flooding), await connectionOf(unknown)]).toEqual(['close', 'close'])
  })
})

describe('a key', () => {
  test.each([0, 249, 250])('that is revoked while its body takes %p ms is refused', async (bodyMs) => {
    const statusOf = async (isRevoked: boolean): Promise<number> => {
      const { send, revoke } = createEndpoint(100, async (admitted) => {
        clock.advance(bodyMs)
        if (isRevoked) revoke(quiet)
        await admitted.confirmKey()
      })
      return (await send(quiet)).status
    }
    expect([await statusOf(true), handled]).toEqual([401, 0])
    expect(await statusOf(false)).toBe(200)
  })

  test.each([
    [249, 200],
    [250, 401],
  ])('that expires is refused if its last check is at least 250 ms old: after %p ms, %p', async (ageMs, status) => {
    clock.advance(750 - ageMs)
    const { send } = createEndpoint(100, async (admitted) => {
      clock.advance(250)
      await admitted.confirmKey()
      clock.advance(ageMs)
      await admitted.confirmKey()
    })
    expect((await send(expiring)).status).toBe(status)
  })

  test('is checked once per change of any key', async () => {
    const counts: number[] = []
    const { send, revoke, checks } = createEndpoint(100, async (admitted) => {
      for (const isChanged of [false, true, false, false]) {
        if (isChanged) revoke(flooding)
        await admitted.confirmKey()
        counts.push(checks())
      }
    })
    expect((await send(quiet)).status).toBe(200)
    expect(counts).toEqual([1, 2, 2, 2])
  })
})

describe('a request that takes too long', () => {
  const failure = new Error('too late')
  test.each([
    ['succeeds', undefined, 1],
    ['fails', failure, 0],
  ])('is answered once with 408. Work that %s later is only reported', async (_how, error, done) => {
    const work = Promise.withResolvers<void>()
    const passed: boolean[] = []
    const ends: AbortSignal[] = []
    const { send, deadlines, timers } = createEndpoint(100, async ({ deadline, ended }) => {
      ends.push(ended)
      passed.push(deadline.passed)
      await work.promise
      passed.push(deadline.passed)
      if (error !== undefined) throw error
    })
    const answered = send(quiet)
    // The work starts after the lookup of the key.
    await nextTurn()
    clock.advance(1_000)
    timers.fire()
    await nextTurn()
    expect(recorded).toHaveLength(1)
    const response = await answered
    expect(response.status).toBe(408)
    expect(ends.map(({ reason }) => reason)).toEqual([expect.any(DeadlineExceededError)])
    expect(await response.json()).toMatchObject({ code: 'DEADLINE_EXCEEDED', request_id: 'mine' })
    expect(latencies).toEqual([[quiet.organizationId, 1_000]])
    work.resolve()
    await nextTurn()
    expect(passed).toEqual([false, true])
    expect([late, handled]).toEqual([[error], done])
    expect(recorded).toEqual([{ status: 408, durationMs: 1_000 }])
    expect(errors).toEqual(['DEADLINE_EXCEEDED'])
    expect(deadlines.active()).toBe(0)
  })

  test('is answered once with 408 if it is refused later', async () => {
    const found = Promise.withResolvers<void>()
    lookup = found.promise
    const { send, timers } = createEndpoint()
    const answered = send(flooding)
    clock.advance(1_000)
    timers.fire()
    expect((await answered).status).toBe(408)
    found.resolve()
    await nextTurn()
    expect([late, statuses(), errors]).toEqual([[REFUSAL], [408], ['DEADLINE_EXCEEDED']])
  })

  test('is forgotten once it is answered in time, with success or failure', async () => {
    const { send, deadlines } = createEndpoint(100, async () => {
      if (handled === 1) throw failure
    })
    for (const status of [200, 500]) expect((await send(quiet)).status).toBe(status)
    expect([deadlines.active(), late]).toEqual([0, []])
  })
})

test.each(['abc-1', 'a"b\\c', '</script>'])('a repeated problem equals a single problem: %s', async (requestId) => {
  const [repeated, single] = [repeatedProblemResponse(REFUSAL, requestId), problemResponse(REFUSAL, requestId)]
  expect(repeated.status).toBe(single.status)
  expect(await repeated.text()).toBe(await single.text())
  expect([...repeated.headers].sort()).toEqual([...single.headers].sort())
})
