// What a request meets that would come to nothing by now: who is told so, what it costs, and what it leaves behind.
import { beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { type ApiKeyCredential, hashApiKey, mintApiKey, SCOPES_BY_KIND } from '../../src/domain/api-key.ts'
import { type CountersignError, DeadlineExceededError, QueueFullError } from '../../src/domain/errors.ts'
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

const [flooding, quiet, unknown] = [issue('org_flooding'), issue('org_quiet'), issue('org_nobody')]
const expiring = issue('org_quiet', createManualClock().unixSeconds() + 1)

let clock: ManualClock
let refused: CountersignError | null
let handled: number
let stopping: boolean
let turnEnds: (() => void)[]
let recorded: { readonly status: number; readonly durationMs: number }[]
let waited: (readonly [organizationId: string, durationMs: number])[]
let errors: string[]
let reported: unknown[]
let late: unknown[]
/** Of a key that is not cached. */
let lookup: Promise<void> | undefined

beforeEach(() => {
  clock = createManualClock()
  refused = REFUSAL
  handled = 0
  stopping = false
  turnEnds = []
  recorded = []
  waited = []
  errors = []
  reported = []
  late = []
  lookup = undefined
})

const createEndpoint = (perTurn = 100, work: (call: AdmittedRequest) => Promise<void> = async () => undefined) => {
  const keys = new Map([flooding, quiet, expiring].map((key) => [key.keyId, key]))
  const authenticator = createAuthenticator({
    clock,
    findKey: async (keyId) => {
      if (lookup !== undefined) await lookup
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
    latency: { record: (organizationId, durationMs) => waited.push([organizationId, durationMs]) },
    report: (error) => reported.push(error),
    lifecycle: {
      get stopping() {
        return stopping
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
      refusal: ({ organizationId }) => (organizationId === flooding.organizationId ? refused : null),
    },
    async (call) => {
      const { requestId, rateLimit } = call
      await work(call)
      handled += 1
      return jsonResponse('{}', requestId, { rateLimit })
    },
  )
  const server = { requestIP: () => ({ address: '192.0.2.7', port: 1, family: 'IPv4' }) as const }
  return {
    endpoint: (request: Request) => gated(request, server),
    deadlines,
    timers,
    revoke,
    checks: () => checks.mock.calls.length,
    lookupOwners: () => checks.mock.calls.map(([, , owner]) => owner.lookupOwner()),
  }
}

const requestOf = (key: string, requestId = 'mine'): Request =>
  new Request('http://127.0.0.1/test', {
    method: 'POST',
    headers: { 'x-api-key': key, 'x-request-id': requestId },
    body: '{}',
  })

test('the lookup of a key belongs to the client’s network, or to the organization of a key that was valid', async () => {
  const { endpoint, lookupOwners } = createEndpoint()
  await endpoint(requestOf(unknown.text))
  await endpoint(requestOf(quiet.text))
  expect(lookupOwners()).toEqual(['192.0.2.7', quiet.organizationId])
})

describe('how long an organization waits', () => {
  test('is told of each verdict and of what came too late, and of nothing that was refused', async () => {
    refused = null
    const { endpoint } = createEndpoint(100, async () => clock.advance(1))
    await endpoint(requestOf(quiet.text))
    expect(waited).toEqual([[quiet.organizationId, 1]])
    refused = REFUSAL
    await endpoint(requestOf(flooding.text))
    await endpoint(requestOf(unknown.text))
    for (let n = 0; n < 6; n++) await endpoint(requestOf(quiet.text))
    expect(recorded.map(({ status }) => status)).toEqual([200, 503, 401, 200, 200, 200, 200, 429, 429])
    expect(waited).toHaveLength(5)
  })
})

describe('a request that would come to nothing', () => {
  test('is refused with the time after which to come again, and counted once', async () => {
    const { endpoint, deadlines } = createEndpoint()
    const response = await endpoint(requestOf(flooding.text))
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('7')
    expect(await response.json()).toMatchObject({ code: 'OVERLOADED', status: 503, request_id: 'mine' })
    expect(recorded.map(({ status }) => status)).toEqual([503])
    expect(errors).toEqual(['OVERLOADED'])
    expect(reported).toEqual([REFUSAL])
    expect(deadlines.active()).toBe(0)
  })

  test('leaves nothing half done: its body unread, its key’s limit untouched, its work not begun', async () => {
    const { endpoint } = createEndpoint()
    for (let number = 0; number < 20; number++) {
      const request = requestOf(flooding.text)
      expect((await endpoint(request)).status).toBe(503)
      expect(request.bodyUsed).toBe(false)
    }
    expect(handled).toBe(0)
    refused = null
    const response = await endpoint(requestOf(flooding.text))
    expect(response.status).toBe(200)
    // The burst less this one.
    expect(response.headers.get('ratelimit-remaining')).toBe('4')
  })

  test('is so for one organization and not for another, and nothing is told to a stranger', async () => {
    const { endpoint } = createEndpoint()
    expect((await endpoint(requestOf(flooding.text))).status).toBe(503)
    expect((await endpoint(requestOf(quiet.text))).status).toBe(200)
    expect((await endpoint(requestOf(unknown.text))).status).toBe(401)
    // The id of a key is not the key.
    const forged = flooding.text.slice(0, -4) + (flooding.text.endsWith('AAAA') ? 'BBBB' : 'AAAA')
    expect((await endpoint(requestOf(forged))).status).toBe(401)
  })

  test('waits for the end of a turn that had enough of them; whoever is let in does not', async () => {
    const { endpoint } = createEndpoint(1)
    await endpoint(requestOf(quiet.text))
    // Known keys from here on.
    await endpoint(requestOf(flooding.text))
    for (const end of turnEnds.splice(0)) end()
    recorded = []
    const [first, second] = [endpoint(requestOf(flooding.text)), endpoint(requestOf(flooding.text))]
    expect((await first).status).toBe(503)
    expect((await endpoint(requestOf(quiet.text))).status).toBe(200)
    expect(recorded.map(({ status }) => status)).toEqual([503, 200])
    clock.advance(3)
    for (const end of turnEnds.splice(0)) end()
    expect((await second).status).toBe(503)
    // Its duration is what its caller waited.
    expect(recorded.at(-1)).toEqual({ status: 503, durationMs: 3 })
  })

  test('is asked to close its connection while the service stops', async () => {
    const { endpoint } = createEndpoint()
    expect((await endpoint(requestOf(flooding.text))).headers.get('connection')).toBeNull()
    stopping = true
    expect((await endpoint(requestOf(flooding.text))).headers.get('connection')).toBe('close')
    expect((await endpoint(requestOf(unknown.text))).headers.get('connection')).toBe('close')
  })
})

describe('a body that takes its time', () => {
  /** The body is there after so long; meanwhile the key is revoked. */
  const ask = async (bodyMs: number, isRevoked: boolean): Promise<number> => {
    const { endpoint, revoke } = createEndpoint(100, async (admitted) => {
      clock.advance(bodyMs)
      if (isRevoked) revoke(quiet)
      await admitted.confirmKey()
    })
    return (await endpoint(requestOf(quiet.text))).status
  }

  test.each([0, 249, 250])('of %p ms: a key that was revoked meanwhile is refused', async (bodyMs) => {
    expect(await ask(bodyMs, true)).toBe(401)
    expect(handled).toBe(0)
    expect(await ask(bodyMs, false)).toBe(200)
  })

  test.each([
    [249, 200],
    [250, 401],
  ])('a key that expires is refused once the last check is 250 ms old: %p ms, %p', async (ageMs, status) => {
    clock.advance(750 - ageMs)
    const { endpoint } = createEndpoint(100, async (admitted) => {
      clock.advance(250)
      await admitted.confirmKey()
      clock.advance(ageMs)
      await admitted.confirmKey()
    })
    expect((await endpoint(requestOf(expiring.text))).status).toBe(status)
  })

  test('is checked once for each change of a key', async () => {
    const counts: number[] = []
    const { endpoint, revoke, checks } = createEndpoint(100, async (admitted) => {
      for (const isChanged of [false, true, false, false]) {
        if (isChanged) revoke(flooding)
        await admitted.confirmKey()
        counts.push(checks())
      }
    })
    expect((await endpoint(requestOf(quiet.text))).status).toBe(200)
    expect(counts).toEqual([1, 2, 2, 2])
  })
})

/** Lets everything that is settled reach whoever awaits it. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

describe('a request that takes too long', () => {
  const failure = new Error('too late')
  test.each([
    ['succeeds', undefined, 1],
    ['fails', failure, 0],
  ])('is answered 408 once at its deadline. Its work then %s, which is only reported', async (_how, error, done) => {
    const work = Promise.withResolvers<void>()
    const passed: boolean[] = []
    const ends: AbortSignal[] = []
    const { endpoint, deadlines, timers } = createEndpoint(100, async ({ deadline, ended }) => {
      ends.push(ended)
      passed.push(deadline.passed)
      await work.promise
      passed.push(deadline.passed)
      if (error !== undefined) throw error
    })
    const answered = endpoint(requestOf(quiet.text))
    // The key is looked up first.
    await settle()
    clock.advance(1_000)
    timers.fire()
    await settle()
    expect(recorded).toHaveLength(1)
    const response = await answered
    expect(response.status).toBe(408)
    expect(ends.map(({ reason }) => reason)).toEqual([expect.any(DeadlineExceededError)])
    expect(await response.json()).toMatchObject({ code: 'DEADLINE_EXCEEDED', request_id: 'mine' })
    expect(waited).toEqual([[quiet.organizationId, 1_000]])
    work.resolve()
    await settle()
    expect(passed).toEqual([false, true])
    expect([late, handled]).toEqual([[error], done])
    expect(recorded).toEqual([{ status: 408, durationMs: 1_000 }])
    expect(errors).toEqual(['DEADLINE_EXCEEDED'])
    expect(deadlines.active()).toBe(0)
  })

  test('is answered 408 once, also if its key turns out to be refused later', async () => {
    const found = Promise.withResolvers<void>()
    lookup = found.promise
    const { endpoint, timers } = createEndpoint()
    const answered = endpoint(requestOf(flooding.text))
    clock.advance(1_000)
    timers.fire()
    expect((await answered).status).toBe(408)
    found.resolve()
    await settle()
    expect(late).toEqual([REFUSAL])
    expect(recorded.map(({ status }) => status)).toEqual([408])
    expect(errors).toEqual(['DEADLINE_EXCEEDED'])
  })

  test('in time leaves no deadline behind, whatever its answer', async () => {
    const { endpoint, deadlines } = createEndpoint(100, async () => {
      if (handled === 1) throw failure
    })
    for (const status of [200, 500]) expect((await endpoint(requestOf(quiet.text))).status).toBe(status)
    expect([deadlines.active(), late]).toEqual([0, []])
  })
})

test('a repeated problem reads as any other, whatever the request id', async () => {
  for (const requestId of ['abc-1', 'a"b\\c', '</script>']) {
    const [repeated, single] = [repeatedProblemResponse(REFUSAL, requestId), problemResponse(REFUSAL, requestId)]
    expect(repeated.status).toBe(single.status)
    expect(await repeated.text()).toBe(await single.text())
    expect([...repeated.headers].sort()).toEqual([...single.headers].sort())
  }
})
