// What every route does with a request: bodies, idempotency keys, secrets, and the shape of errors.
import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { PERSON_RATE_LIMIT } from '../../src/admin/gate.ts'
import { takesIdempotencyKey } from '../../src/admin/route.ts'
import { currentCaller } from '../../src/lib/caller.ts'
import { nextTurn } from '../../src/lib/time.ts'
import { ConstraintViolatedError } from '../../src/store/errors.ts'
import { allKeys } from '../support/all-rows.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'
import { type Harness, type Organization, startHarness } from './support/harness.ts'
import { type CallOptions, toRequest } from './support/request.ts'

let harness: Harness
let alpha: Organization

beforeEach(async () => {
  harness = await startHarness()
  alpha = await harness.organization('alpha')
})
afterEach(() => harness.close())

const KEYS = '/organizations/alpha/keys'
const post = (body: unknown, options: CallOptions = {}): Promise<Response> =>
  harness.request('POST', KEYS, { key: alpha.key, body, ...options })
const detailOf = async (response: Response): Promise<string> => ((await response.json()) as { detail: string }).detail

test('a cookie is looked up for the client’s network, and then the request is the organization’s', async () => {
  const { cookie } = await harness.person({ email: 'ada@example.com', roles: { [alpha.id]: 'viewer' } })
  const callers: unknown[] = []
  const { findByToken } = harness.store.userSessions
  const { page } = harness.store.apiKeys
  const finding = spyOn(harness.store.userSessions, 'findByToken').mockImplementation((hash) => {
    callers.push(currentCaller())
    return findByToken(hash)
  })
  const paging = spyOn(harness.store.apiKeys, 'page').mockImplementation((filter, request) => {
    callers.push(currentCaller())
    return page(filter, request)
  })
  const { status } = await harness.request('GET', KEYS, { cookie, address: '2001:db8::7' })
  finding.mockRestore()
  paging.mockRestore()
  expect(status).toBe(200)
  const network = '2001:db8::/64'
  expect(callers).toMatchObject([
    { owner: '', network },
    { owner: alpha.id, network },
  ])
})

test('a refusal leaves in the turns of refusals', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const arrived = spyOn(harness.pacer, 'arrived')
  spyOn(harness.pacer, 'refuse').mockImplementation((make) => promise.then(make))
  let isAnswered = false
  const refused = harness.request('GET', KEYS).then(({ status }) => {
    isAnswered = true
    return status
  })
  await nextTurn()
  expect([arrived.mock.calls.length, isAnswered]).toEqual([1, false])
  resolve()
  expect(await refused).toBe(401)
})

describe('a body', () => {
  test('takes no other fields than its operation declares', () => {
    const open = ADMIN_ROUTES.filter(({ body }) => body !== null && body['additionalProperties'] !== false)
    expect(open.map(({ operationId }) => operationId)).toEqual([])
  })

  test('with a field that is not declared is refused: nothing is assigned that nobody offered', async () => {
    const bodies: readonly object[] = [
      { name: 'x', kind: 'attestation', scopes: ['admin', 'deployment'] },
      { name: 'x', kind: 'attestation', organization_id: 'org_other' },
      { name: 'x', kind: 'attestation', id: 'AAAAAAAAAAAA' },
      { name: 'x', kind: 'attestation', constructor: {} },
    ]
    for (const body of bodies) {
      const response = await post(body)
      expect([JSON.stringify(body), response.status]).toEqual([JSON.stringify(body), 400])
      expect(await detailOf(response)).toContain(
        'allowed fields are name, kind, environment, expires_at, rate_limit, deployment',
      )
    }
    expect(await allKeys(harness.store, alpha.id)).toHaveLength(1)
  })

  test('takes no whole number that JavaScript or the database would change', async () => {
    for (const [method, path, body] of [
      ['PUT', 'sessions/x/assignment', { user_id: null, version: 2 ** 64 }],
      ['POST', 'sessions/x/decide', { status: 'retry', sequence: 2 ** 53 }],
      ['POST', 'policies/x/activate', { revision_id: 'x', version: Number.MAX_VALUE }],
    ] as const) {
      const response = await harness.request(method, `/organizations/alpha/${path}`, { key: alpha.key, body })
      expect([path, response.status]).toEqual([path, 400])
      expect(await detailOf(response)).toContain('must be a whole number of at most 9007199254740991')
    }
    expect(harness.reported).toEqual([])
  })

  test('is refused field by field, naming the field and the rule and never what was sent', async () => {
    const canary = 'CANARY'
    const [printable, future] = [
      'name must be printable and must not begin or end with a space',
      'expires_at must be a time in the future, such as 2027-01-31T12:00:00Z',
    ]
    const key = { name: 'x', kind: 'admin' }
    const rows: ReadonlyArray<readonly [object, string]> = [
      [{ name: canary, kind: canary }, 'kind must be one of attestation, identity, admin'],
      [{ ...key, name: '' }, 'name must not be empty'],
      [{ ...key, name: canary.repeat(50) }, 'name must have at most 100 characters'],
      [{ ...key, name: 5 }, 'name must be a string'],
      [{ ...key, name: ' x' }, printable],
      [{ ...key, name: 'a\u202eb' }, printable],
      [{ ...key, expires_at: canary }, future],
      [{ ...key, expires_at: '2020-01-01T00:00:00Z' }, future],
      [
        { ...key, rate_limit: { requests_per_second: 0, burst: 1 } },
        'rate_limit.requests_per_second must be a whole number from 1 to 1000000',
      ],
    ]
    expect(await detailOf(await post({ kind: 'attestation' }))).toBe('Missing required field: name')
    for (const [body, detail] of rows) {
      const response = await post(body)
      expect([response.status, await detailOf(response)]).toEqual([400, `request validation failed: ${detail}`])
    }
  })

  test('names the field that is at fault, and none where it is the request as a whole', async () => {
    const rows: ReadonlyArray<readonly [object, string | undefined, string | undefined]> = [
      [{ kind: 'attestation' }, 'name', 'is required'],
      [{ name: '', kind: 'admin' }, 'name', 'must not be empty'],
      [
        { name: 'x', kind: 'admin', rate_limit: { requests_per_second: 1, burst: 1, more: 1 } },
        'rate_limit',
        undefined,
      ],
      [{ name: 'x', kind: 'admin', unknown: 1 }, undefined, undefined],
    ]
    for (const [body, field, rule] of rows) {
      const problem = (await (await post(body)).json()) as { field?: string; rule?: string; code: string }
      expect({ body, field: problem.field }).toEqual({ body, field })
      if (rule !== undefined) expect(problem.rule).toBe(rule)
    }
    const query = await harness.request('GET', `${KEYS}?limit=0`, { key: alpha.key })
    expect(((await query.json()) as { field: string }).field).toBe('limit')
  })

  test('of another type, malformed, doubled or too large is refused as everywhere', async () => {
    const raw = (text: string, type = 'application/json') =>
      post(undefined, { raw: text, headers: { 'content-type': type } })
    expect((await raw('name=x&kind=admin', 'application/x-www-form-urlencoded')).status).toBe(415)
    expect((await raw('{"name":"x","kind":"admin"}', 'text/plain')).status).toBe(415)
    expect((await raw(`{"name":"${'x'.repeat(300_000)}"}`)).status).toBe(413)
    const [doubled, polluting] = [
      '{"name":"x","name":"y","kind":"admin"}',
      '{"name":"x","kind":"admin","__proto__":{}}',
    ]
    for (const text of ['{"name":', doubled, polluting, '[]'])
      expect([text, (await raw(text)).status]).toEqual([text, 400])
  })
})

describe('an Idempotency-Key', () => {
  const withKey = (body: object, key = 'once'): Promise<Response> => post(body, { headers: { 'idempotency-key': key } })

  test('makes a change happen once, and says so', async () => {
    const body = { name: 'x', kind: 'identity' }
    const first = await withKey(body)
    const second = await withKey(body)
    expect([first.status, second.status]).toEqual([201, 201])
    expect([first.headers.get('idempotency-replayed'), second.headers.get('idempotency-replayed')]).toEqual([
      null,
      'true',
    ])
    const [made, again] = [await first.json(), await second.json()] as { key: string | null; record: { id: string } }[]
    expect(again?.record).toEqual(made!.record)
    expect(await allKeys(harness.store, alpha.id)).toHaveLength(2)
  })

  test('never brings a secret back, and none is kept for it', async () => {
    const body = { name: 'x', kind: 'identity' }
    const { key } = (await (await withKey(body)).json()) as { key: string }
    expect(((await (await withKey(body)).json()) as { key: unknown }).key).toBeNull()
    await harness.store.database.close()
    for (const file of ['countersign.db', 'countersign.db-wal']) {
      const path = `${harness.folder}/${file}`
      if (await Bun.file(path).exists())
        expect(Buffer.from(await Bun.file(path).bytes()).includes(key.slice(21))).toBe(false)
    }
  })

  test('with another body, path or query is refused; another caller’s is another key', async () => {
    await withKey({ name: 'x', kind: 'identity' })
    expect((await withKey({ name: 'y', kind: 'identity' })).status).toBe(422)
    const other = await harness.issueKey(alpha.id, 'admin')
    const response = await harness.request('POST', KEYS, {
      key: other,
      body: { name: 'y', kind: 'identity' },
      headers: { 'idempotency-key': 'once' },
    })
    expect(response.status).toBe(201)
  })

  test('of a refused request may be used again', async () => {
    expect((await withKey({ name: '', kind: 'identity' })).status).toBe(400)
    expect((await withKey({ name: 'x', kind: 'identity' })).status).toBe(201)
  })

  test('of a change without an answer’s body is repeated without one', async () => {
    const headers = { 'idempotency-key': 'gone' }
    const policy = await harness.store.policies.create({ organizationId: alpha.id, name: 'P' })
    const project = await harness.store.projects.create({ organizationId: alpha.id, name: 'p', policyId: policy.id })
    const binding = await harness.store.bindings.create({
      organizationId: alpha.id,
      projectId: project.id,
      chainName: 'base',
      address: `0x${'1'.repeat(40)}`,
    })
    const remove = () =>
      harness.request('DELETE', `/organizations/alpha/bindings/${binding.id}`, { key: alpha.key, headers })
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 204])
    expect(
      (await harness.request('DELETE', `/organizations/alpha/bindings/${binding.id}`, { key: alpha.key })).status,
    ).toBe(404)
  })
})

test('an operation that only reads does not take an Idempotency-Key, although its method is POST', () => {
  const reads = ADMIN_ROUTES.filter((route) => route.method === 'POST' && route.alone === 'reads')
  expect(reads.map(({ operationId }) => operationId).toSorted()).toEqual([
    'checkPolicy',
    'readDocumentZone',
    'readEvidenceFields',
    'readPolicyDecisionFacts',
    'searchSessions',
    'simulatePolicy',
    'simulateSessionPolicy',
    'testPolicy',
    'tryThresholds',
  ])
  expect(reads.filter(takesIdempotencyKey)).toEqual([])
})

describe('a change whose answer was lost', () => {
  type Handle = (typeof ADMIN_ROUTES)[number]['handle']
  const headers = { 'idempotency-key': 'once' }
  const body = { name: 'x', kind: 'identity' }
  /** The same API with another handler of the route that issues keys. */
  const apiWith = (wrap: (handle: Handle) => Handle) => {
    const api = harness.apiOver(
      ADMIN_ROUTES.map((route) =>
        route.operationId === 'issueKey' ? { ...route, handle: wrap(route.handle) } : route,
      ),
    )
    return () => api(toRequest('POST', KEYS, { key: alpha.key, body, headers }))
  }
  /** Beside the one that the organization began with. */
  const keysMade = async (): Promise<number> => (await allKeys(harness.store, alpha.id)).length - 1
  const repeat = () => post(body, { headers })

  test('is not made again: its claim was completed in the change’s own transaction', async () => {
    // The answer can't be stored any more once the change is committed.
    spyOn(harness.store.adminIdempotency, 'settle').mockRejectedValue(new Error('the store is away'))
    const call = apiWith((handle) => handle)
    expect((await call()).status).toBe(201)
    expect(harness.reported).toHaveLength(1)
    for (const seconds of [0, 31, 3_600]) {
      harness.clock.advance(seconds)
      const again = await repeat()
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
      expect(((await again.json()) as { key: unknown }).key).toBeNull()
    }
    expect(await keysMade()).toBe(1)
  })

  test('nor when its handler was cut off after the commit', async () => {
    const call = apiWith((handle) => async (admitted) => {
      await handle(admitted)
      throw new Error('cut off')
    })
    expect((await call()).status).toBe(500)
    for (const seconds of [0, 31]) {
      harness.clock.advance(seconds)
      expect((await repeat()).status).toBe(201)
    }
    expect(await keysMade()).toBe(1)
  })

  test('is said to be made where its answer is not known', async () => {
    const call = apiWith((handle) => async (admitted) => {
      await handle({
        ...admitted,
        write: (work) =>
          admitted.write(async (tables, note) => {
            await work(tables, note)
            return { half: 'done' } as never
          }),
      })
      throw new Error('cut off')
    })
    expect((await call()).status).toBe(500)
    harness.clock.advance(31)
    const again = await repeat()
    expect(again.status).toBe(409)
    expect(await detailOf(again)).toContain('made its change, but its response was lost')
    expect(await keysMade()).toBe(1)
  })

  test('is not committed by a request that has lost its claim', async () => {
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const call = apiWith((handle) => async (admitted) => {
      begun.resolve()
      await gate.promise
      return handle(admitted)
    })
    const slow = call()
    await begun.promise
    harness.clock.advance(31)
    expect((await repeat()).status).toBe(201)
    gate.resolve()
    expect((await slow).status).toBe(409)
    expect(await keysMade()).toBe(1)
  })

  test('may be tried again at once when the store refused it', async () => {
    let refuses = true
    const call = apiWith(
      (handle) => async (admitted) =>
        refuses ? admitted.write(() => Promise.reject(new ConstraintViolatedError('unique'))) : handle(admitted),
    )
    const refused = await call()
    expect([refused.status, await detailOf(refused)]).toEqual([409, expect.stringContaining('it already exists')])
    refuses = false
    expect((await call()).status).toBe(201)
    expect(await keysMade()).toBe(1)
  })
})

describe('a key’s power', () => {
  test('ends with its limit: 429 as everywhere', async () => {
    const rateLimit = { requestsPerSecond: 1, burst: 2 }
    const key = await harness.issueKey(alpha.id, 'admin', undefined, { rateLimit })
    const statuses: number[] = []
    for (let n = 0; n < 3; n++) statuses.push((await harness.request('GET', '/me', { key })).status)
    expect(statuses).toEqual([200, 200, 429])
  })
})

describe('a person', () => {
  test('has one limit over all of their sessions, and nobody else is held up by it', async () => {
    const { id, cookie } = await harness.person({ email: 'busy@alpha.example', roles: { [alpha.id]: 'viewer' } })
    const other = await harness.signIn(id)
    const { burst } = PERSON_RATE_LIMIT
    const asked = await Promise.all(
      Array.from({ length: burst }, () => harness.request('GET', '/organizations/alpha', { cookie })),
    )
    expect(asked.filter(({ status }) => status !== 200)).toEqual([])
    const refused = await harness.request('GET', '/me', { cookie: other })
    expect([refused.status, refused.headers.get('ratelimit-limit')]).toEqual([429, String(burst)])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    const { cookie: neighbour } = await harness.person({ email: 'calm@alpha.example', roles: { [alpha.id]: 'viewer' } })
    expect((await harness.request('GET', '/me', { cookie: neighbour })).status).toBe(200)
    harness.clock.advance(1)
    expect((await harness.request('GET', '/me', { cookie })).status).toBe(200)
  })
})

describe('an error', () => {
  test('has the problem’s shape, the caller’s request id, and says nothing of what broke', async () => {
    await harness.store.database.close()
    const response = await harness.request('GET', KEYS, { key: alpha.key, headers: { 'x-request-id': 'req-7' } })
    expect([response.status, response.headers.get('content-type'), response.headers.get('retry-after')]).toEqual([
      503,
      'application/problem+json',
      '1',
    ])
    const body = (await response.json()) as Record<string, unknown>
    expect(Object.keys(body).sort().join(' ')).toBe('code detail error message request_id status title type')
    expect(body['request_id']).toBe('req-7')
    expect(JSON.stringify(body)).not.toMatch(/sqlite|select|countersign\.db/i)
  })

  test('of a fault is reported, once, under its request id', async () => {
    const handle = () => Promise.reject(new Error('secret inner text'))
    const broken = harness.apiOver(ADMIN_ROUTES.map((route) => ({ ...route, handle })))
    const response = await broken(toRequest('GET', '/me', { key: alpha.key }))
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret inner text')
    expect(harness.reported).toHaveLength(1)
  })
})
