// Handling of requests by all routes: bodies, idempotency keys, secrets, rate limits and errors.
import { describe, expect, spyOn, test } from 'bun:test'
import { PERSON_RATE_LIMIT } from '../../src/admin/gate.ts'
import { type Route, takesIdempotencyKey } from '../../src/admin/route.ts'
import { currentCaller } from '../../src/lib/caller.ts'
import { nextTurn } from '../../src/lib/time.ts'
import { ConstraintViolatedError } from '../../src/store/errors.ts'
import { allKeys } from '../support/all-rows.ts'
import { words } from '../support/words.ts'
import { ADMIN_ROUTES, routesWith } from './support/all-routes.ts'
import { harnessOfTest, organizationOfTest } from './support/harness.ts'
import { type CallOptions, problemOf, toRequest } from './support/request.ts'

const harness = harnessOfTest()
const alpha = organizationOfTest(harness, 'alpha')

const KEYS = '/organizations/alpha/keys'
const post = (body: unknown, options: CallOptions = {}): Promise<Response> =>
  harness.request('POST', KEYS, { key: alpha.key, body, ...options })
const countKeys = async (): Promise<number> => (await allKeys(harness.store, alpha.id)).length

test('a request counts for the network of the client and, after its cookie is found, for the organization', async () => {
  const { cookie } = await harness.member(alpha, 'ada', 'viewer')
  const callers: unknown[] = []
  const { userSessions, apiKeys } = harness.store
  const { findByToken } = userSessions
  const { page } = apiKeys
  const finding = spyOn(userSessions, 'findByToken').mockImplementation((hash) => {
    callers.push(currentCaller())
    return findByToken(hash)
  })
  const paging = spyOn(apiKeys, 'page').mockImplementation((filter, request) => {
    callers.push(currentCaller())
    return page(filter, request)
  })
  expect(await harness.status('GET', KEYS, { cookie, address: '2001:db8::7' })).toBe(200)
  finding.mockRestore()
  paging.mockRestore()
  const network = '2001:db8::/64'
  expect(callers).toMatchObject([
    { owner: '', network },
    { owner: alpha.id, network },
  ])
})

test('a refusal is sent when the pacer allows it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const arrived = spyOn(harness.pacer, 'arrived')
  spyOn(harness.pacer, 'refuse').mockImplementation((make) => promise.then(make))
  let isAnswered = false
  const refused = harness.status('GET', KEYS).then((status) => {
    isAnswered = true
    return status
  })
  await nextTurn()
  expect([arrived.mock.calls.length, isAnswered]).toEqual([1, false])
  resolve()
  expect(await refused).toBe(401)
})

describe('a body', () => {
  const KEY = { name: 'x', kind: 'admin' }

  test('can contain only the fields that its operation declares', () => {
    const open = ADMIN_ROUTES.filter(({ body }) => body !== null && body['additionalProperties'] !== false)
    expect(open.map(({ operationId }) => operationId)).toEqual([])
  })

  test.each<object>([
    { scopes: ['admin', 'deployment'] },
    { organization_id: 'org_other' },
    { id: 'AAAAAAAAAAAA' },
    { constructor: {} },
  ])('with the undeclared field %j is refused', async (field) => {
    const response = await post({ name: 'x', kind: 'attestation', ...field })
    const { detail } = await problemOf(response)
    const allowed = 'allowed fields are name, kind, environment, expires_at, rate_limit, deployment'
    expect([response.status, detail, await countKeys()]).toEqual([400, expect.stringContaining(allowed), 1])
  })

  test.each([
    ['PUT', 'sessions/x/assignment', { user_id: null, version: 2 ** 64 }],
    ['POST', 'sessions/x/decide', { status: 'retry', sequence: 2 ** 53 }],
    ['POST', 'policies/x/activate', { revision_id: 'x', version: Number.MAX_VALUE }],
  ])('with an integer that is not exact is refused: %s %s', async (method, path, body) => {
    const response = await harness.request(method, `/organizations/alpha/${path}`, { key: alpha.key, body })
    const { detail } = await problemOf(response)
    const rule = expect.stringContaining('must be a whole number of at most 9007199254740991')
    expect([response.status, detail, harness.reported]).toEqual([400, rule, []])
  })

  const CANARY = 'CANARY'
  const PRINTABLE = 'must be printable and must not begin or end with a space'
  const FUTURE = 'must be a time in the future, such as 2027-01-31T12:00:00Z'
  test.each<[string, string, object]>([
    ['kind', 'must be one of attestation, identity, admin', { name: CANARY, kind: CANARY }],
    ['name', 'must not be empty', { name: '' }],
    ['name', 'must have at most 100 characters', { name: CANARY.repeat(50) }],
    ['name', 'must be a string', { name: 5 }],
    ['name', PRINTABLE, { name: ' x' }],
    ['name', PRINTABLE, { name: 'a\u202eb' }],
    ['expires_at', FUTURE, { expires_at: CANARY }],
    ['expires_at', FUTURE, { expires_at: '2020-01-01T00:00:00Z' }],
    [
      'rate_limit.requests_per_second',
      'must be a whole number from 1 to 1000000',
      { rate_limit: { requests_per_second: 0, burst: 1 } },
    ],
  ])('with an invalid field names the field and the rule, and not the value: %s %s', async (field, rule, changes) => {
    const { status, body } = await harness.call('POST', KEYS, { key: alpha.key, body: { ...KEY, ...changes } })
    expect(status).toBe(400)
    expect(body).toMatchObject({ field, rule, detail: `request validation failed: ${field} ${rule}` })
    expect(JSON.stringify(body)).not.toContain(CANARY)
  })

  test.each([
    ['name', { kind: 'attestation' }],
    ['rate_limit', { ...KEY, rate_limit: { requests_per_second: 1, burst: 1, more: 1 } }],
    [undefined, { ...KEY, unknown: 1 }],
  ])('names the field %s for %j', async (field, body) => {
    expect((await problemOf(await post(body))).field).toBe(field as string)
  })

  test('without a required field names the field', async () => {
    const { body } = await harness.call('POST', KEYS, { key: alpha.key, body: { kind: 'attestation' } })
    expect(body).toMatchObject({ detail: 'Missing required field: name', rule: 'is required' })
    const query = await harness.request('GET', `${KEYS}?limit=0`, { key: alpha.key })
    expect((await problemOf(query)).field).toBe('limit')
  })

  test.each([
    [415, 'application/x-www-form-urlencoded', 'name=x&kind=admin'],
    [415, 'text/plain', JSON.stringify(KEY)],
    [413, 'application/json', `{"name":"${'x'.repeat(300_000)}"}`],
    [400, 'application/json', '{"name":'],
    [400, 'application/json', '{"name":"x","name":"y","kind":"admin"}'],
    [400, 'application/json', '{"name":"x","kind":"admin","__proto__":{}}'],
    [400, 'application/json', '[]'],
  ])('of another type, too long or malformed is refused with %i: %s', async (status, type, raw) => {
    expect((await post(undefined, { raw, headers: { 'content-type': type } })).status).toBe(status)
  })
})

describe('an Idempotency-Key', () => {
  const BODY = { name: 'x', kind: 'identity' }
  const withKey = (body: object, options: CallOptions = {}): Promise<Response> =>
    post(body, { headers: { 'idempotency-key': 'once' }, ...options })

  test('makes a change happen once, and its secret is neither repeated nor stored', async () => {
    const [first, second] = [await withKey(BODY), await withKey(BODY)]
    expect([first.status, second.status]).toEqual([201, 201])
    const replayed = [first, second].map(({ headers }) => headers.get('idempotency-replayed'))
    expect(replayed).toEqual([null, 'true'])
    const [created, again] = (await Promise.all([first.json(), second.json()])) as { key: string; record: object }[]
    expect(again).toMatchObject({ key: null, record: created!.record })
    expect(await countKeys()).toBe(2)
    await harness.store.database.close()
    for (const name of ['countersign.db', 'countersign.db-wal']) {
      const file = Bun.file(`${harness.folder}/${name}`)
      if (!(await file.exists())) continue
      expect(Buffer.from(await file.bytes()).includes(created!.key.slice(21))).toBe(false)
    }
  })

  test('with another body is refused, and belongs to one caller', async () => {
    await withKey(BODY)
    expect((await withKey({ ...BODY, name: 'y' })).status).toBe(422)
    const key = await harness.issueKey(alpha.id, 'admin')
    expect((await withKey({ ...BODY, name: 'y' }, { key })).status).toBe(201)
  })

  test('of a refused request can be used again', async () => {
    expect((await withKey({ ...BODY, name: '' })).status).toBe(400)
    expect((await withKey(BODY)).status).toBe(201)
  })

  test('repeats a response without a body', async () => {
    const { bindings, policies, projects } = harness.store
    const organizationId = alpha.id
    const { id: policyId } = await policies.create({ organizationId, name: 'P' })
    const { id: projectId } = await projects.create({ organizationId, name: 'p', policyId })
    const address = `0x${'1'.repeat(40)}`
    const { id } = await bindings.create({ organizationId, projectId, chainName: 'base', address })
    const remove = (headers = {}) =>
      harness.status('DELETE', `/organizations/alpha/bindings/${id}`, { key: alpha.key, headers })
    const headers = { 'idempotency-key': 'gone' }
    expect([await remove(headers), await remove(headers), await remove()]).toEqual([204, 204, 404])
  })

  test('is ignored by operations that only read with a POST', () => {
    const reads = ADMIN_ROUTES.filter((route) => route.method === 'POST' && route.alone === 'reads')
    expect(reads.map(({ operationId }) => operationId).toSorted()).toEqual(words`
      checkPolicy readDocumentZone readEvidenceFields readPolicyDecisionFacts searchSessions simulatePolicy
      simulateSessionPolicy testPolicy tryThresholds
    `)
    expect(reads.filter(takesIdempotencyKey)).toEqual([])
  })
})

describe('a change whose response was lost', () => {
  const headers = { 'idempotency-key': 'once' }
  const body = { name: 'x', kind: 'identity' }
  /** Creates a key with another handler. */
  const apiWith = (wrap: (handle: Route['handle']) => Route['handle']) => {
    const api = harness.apiOver(routesWith('issueKey', wrap))
    return () => api(toRequest('POST', KEYS, { key: alpha.key, body, headers }))
  }
  /** Keys other than the organization's first. */
  const keysCreated = async (): Promise<number> => (await countKeys()) - 1
  const repeat = () => harness.call('POST', KEYS, { key: alpha.key, body, headers })

  test('is not repeated, because its transaction completed the claim', async () => {
    spyOn(harness.store.adminIdempotency, 'settle').mockRejectedValue(new Error('the store is unavailable'))
    expect((await apiWith((handle) => handle)()).status).toBe(201)
    expect(harness.reported).toHaveLength(1)
    for (const seconds of [0, 31, 3_600]) {
      harness.clock.advance(seconds)
      const again = await post(body, { headers })
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
      expect(await again.json()).toMatchObject({ key: null })
    }
    expect(await keysCreated()).toBe(1)
  })

  test('is not repeated if its handler failed after the commit', async () => {
    const call = apiWith((handle) => async (admitted) => {
      await handle(admitted)
      throw new Error('cut off')
    })
    expect((await call()).status).toBe(500)
    for (const seconds of [0, 31]) {
      harness.clock.advance(seconds)
      expect((await repeat()).status).toBe(201)
    }
    expect(await keysCreated()).toBe(1)
  })

  test('is reported as made if its response is unknown', async () => {
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
    const detail = expect.stringContaining('made its change, but its response was lost')
    expect(await repeat()).toMatchObject({ status: 409, body: { detail } })
    expect(await keysCreated()).toBe(1)
  })

  test('is not committed after its claim was lost', async () => {
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
    expect(await keysCreated()).toBe(1)
  })

  test('can be repeated immediately if the store refused it', async () => {
    let refuses = true
    const call = apiWith(
      (handle) => async (admitted) =>
        refuses ? admitted.write(() => Promise.reject(new ConstraintViolatedError('unique'))) : handle(admitted),
    )
    const refused = await call()
    const { detail } = await problemOf(refused)
    expect([refused.status, detail]).toEqual([409, expect.stringContaining('it already exists')])
    refuses = false
    expect((await call()).status).toBe(201)
    expect(await keysCreated()).toBe(1)
  })
})

test('a key above its rate limit gets 429', async () => {
  const rateLimit = { requestsPerSecond: 1, burst: 2 }
  const key = await harness.issueKey(alpha.id, 'admin', undefined, { rateLimit })
  const statuses: number[] = []
  for (let n = 0; n < 3; n++) statuses.push(await harness.status('GET', '/me', { key }))
  expect(statuses).toEqual([200, 200, 429])
})

test('all sessions of a person share one rate limit, which affects no other person', async () => {
  const { id, cookie } = await harness.member(alpha, 'busy', 'viewer')
  const other = await harness.signIn(id)
  const { burst } = PERSON_RATE_LIMIT
  const statuses = await Promise.all(
    Array.from({ length: burst }, () => harness.status('GET', '/organizations/alpha', { cookie })),
  )
  expect(statuses.filter((status) => status !== 200)).toEqual([])
  const refused = await harness.request('GET', '/me', { cookie: other })
  expect([refused.status, refused.headers.get('ratelimit-limit')]).toEqual([429, String(burst)])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(await harness.status('GET', '/me', await harness.member(alpha, 'calm', 'viewer'))).toBe(200)
  harness.clock.advance(1)
  expect(await harness.status('GET', '/me', { cookie })).toBe(200)
})

describe('an error', () => {
  test('is a problem document with the request id, without internal text', async () => {
    await harness.store.database.close()
    const response = await harness.request('GET', KEYS, { key: alpha.key, headers: { 'x-request-id': 'req-7' } })
    const headers = ['content-type', 'retry-after'].map((name) => response.headers.get(name))
    expect([response.status, ...headers]).toEqual([503, 'application/problem+json', '1'])
    const body = (await response.json()) as Record<string, unknown>
    expect(Object.keys(body).sort().join(' ')).toBe('code detail error message request_id status title type')
    expect(body['request_id']).toBe('req-7')
    expect(JSON.stringify(body)).not.toMatch(/sqlite|select|countersign\.db/i)
  })

  test('of a handler is reported once', async () => {
    const handle = () => Promise.reject(new Error('secret inner text'))
    const api = harness.apiOver(ADMIN_ROUTES.map((route) => ({ ...route, handle })))
    const response = await api(toRequest('GET', '/me', { key: alpha.key }))
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret inner text')
    expect(harness.reported).toHaveLength(1)
  })
})
