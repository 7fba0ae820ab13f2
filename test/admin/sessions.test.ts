// Review of sessions in the API: decisions, assignments, evidence, checks and the queue. No reviewer overwrites another's
// decision or decides on an outdated state.
import { describe, expect, test } from 'bun:test'
import { evmWallet } from '../identity/support.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { replaceChecks } from '../support/replace-checks.ts'
import { harnessOfTest, organizationOfTest, personOfTest } from './support/harness.ts'
import type { CallOptions } from './support/request.ts'

const MISSING = ['wallets', 'fullName', 'birthDate', 'country']
const RUNNING = expect.stringContaining('still running')
const COMPLETION = { status: 'completed', sequence: 2, override: true }
const SESSIONS = '/organizations/alpha/sessions'

const harness = harnessOfTest()
const alpha = organizationOfTest(harness, 'alpha')
const ada = personOfTest(() => harness.member(alpha, 'ada', 'reviewer'))
const bob = personOfTest(() => harness.member(alpha, 'bob', 'reviewer'))

type Json = Record<string, unknown>
const submitted = (): Promise<string> => harness.session(alpha.id, ['submitted'])
const call = (method: string, path: string, options: CallOptions = ada) =>
  harness.call<Json>(method, SESSIONS + path, options)
const createViewer = () => harness.member(alpha, 'viewer', 'viewer')
const decide = (id: string, body: object, caller: CallOptions = ada) =>
  call('POST', `/${id}/decide`, { ...caller, body })
const assign = (id: string, user_id: string | null, version: number, caller = ada) =>
  call('PUT', `/${id}/assignment`, { ...caller, body: { user_id, version } })
const eventsOf = ({ body }: { body: Json }) => body['events'] as Json[]
const idsOf = async (query: string): Promise<readonly string[]> => {
  const { status, body } = await call('GET', query)
  expect(status).toBe(200)
  return (body['data'] as { id: string }[]).map(({ id }) => id)
}
const statusesOf = async (requests: readonly Promise<{ status: number }>[]): Promise<readonly number[]> =>
  (await Promise.all(requests)).map(({ status }) => status).sort()

describe('a decision', () => {
  test('contains comments for the person and for reviewers, and the name of the reviewer', async () => {
    const id = await submitted()
    const comments = { public_comment: 'The photograph is blurred.', private_comment: 'Second try.' }
    const decided = await decide(id, { status: 'retry', sequence: 2, ...comments, corrections: ['fullName'] })
    const { status, body } = decided
    expect([status, body['status'], body['public_comment']]).toEqual([200, 'retry', comments.public_comment])
    expect(eventsOf(decided).at(-1)).toMatchObject({ actor: 'operator:ada@example.com', ...comments })
  })

  test('is refused if the session changed after the reviewer read it', async () => {
    const id = await submitted()
    const both = await Promise.all([
      decide(id, COMPLETION),
      decide(id, { status: 'rejected', sequence: 2, private_comment: 'Looks edited.' }, bob),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    const winner = both.find(({ status }) => status === 200)
    expect((await call('GET', `/${id}`)).body['status']).toBe(winner?.body['status'])
  })

  test('completes an incomplete session only with an override, which is in the history and the audit log', async () => {
    const id = await submitted()
    await markChecksMade(harness.store, alpha.id, id)
    const refused = await decide(id, { status: 'completed', sequence: 2 })
    expect([refused.status, refused.body['code']]).toEqual([409, 'SESSION_INCOMPLETE'])
    expect(refused.body['detail']).toContain(MISSING.join(', '))
    expect((await decide(id, { ...COMPLETION, override: false })).status).toBe(409)
    const wrong = await decide(id, { status: 'retry', sequence: 2, override: true })
    expect([wrong.status, wrong.body['detail']]).toEqual([400, expect.stringContaining('override')])
    expect((await call('GET', `/${id}`)).body).toMatchObject({ status: 'submitted', missing: MISSING })
    const decided = await decide(id, COMPLETION)
    expect(eventsOf(decided).at(-1)).toMatchObject({ status: 'completed', overridden: MISSING })
    expect((await harness.audited({ organizationId: alpha.id }))[0]).toMatchObject({
      action: 'session.decide',
      subject: id,
      detail: { status: ['submitted', 'completed'], overridden: MISSING.join(', ') },
    })
  })

  test('completes a session that was not submitted only after the checks of its wallets, which it starts', async () => {
    const { sessionChecks, sessionWallets } = harness.store
    const id = await harness.session(alpha.id, [], { environment: 'test' })
    await sessionWallets.connect({
      organizationId: alpha.id,
      sessionId: id,
      address: evmWallet(1),
      chain: 'ethereum',
      nonce: null,
      proof: { kind: 'sandbox', message: '', signature: '' },
      actor: 'person',
    })
    expect((await decide(id, { ...COMPLETION, override: false })).body['code']).toBe('SESSION_INCOMPLETE')
    expect(await sessionChecks.isPending(alpha.id, id)).toBe(false)
    const pending = await harness.request('POST', `${SESSIONS}/${id}/decide`, { ...ada, body: COMPLETION })
    expect([pending.status, pending.headers.get('retry-after')]).toEqual([409, '5'])
    expect(await pending.json()).toMatchObject({ detail: RUNNING })
    expect(await sessionChecks.isPending(alpha.id, id)).toBe(true)
    await sessionChecks.markMade({ organizationId: alpha.id, sessionId: id, sequence: 2 })
    expect((await decide(id, COMPLETION)).body['status']).toBe('completed')
  })

  test('does not change a completed session, which only an admin can revoke', async () => {
    const id = await submitted()
    const pending = await decide(id, COMPLETION)
    expect([pending.status, pending.body['detail']]).toEqual([409, RUNNING])
    await markChecksMade(harness.store, alpha.id, id)
    await decide(id, COMPLETION)
    const body = { status: 'rejected', sequence: 3, public_comment: 'The document was altered.' }
    expect((await decide(id, body)).status).toBe(409)
    const revoke = (caller: CallOptions) => call('POST', `/${id}/revoke`, { ...caller, body })
    expect((await revoke(ada)).status).toBe(403)
    const revoked = await revoke({ key: alpha.key })
    expect(revoked.body['status']).toBe('rejected')
    const events = eventsOf(revoked)
    expect(events[0]).toMatchObject({ actor: 'key:test', key_name: null })
    expect(events.at(-1)?.['key_name']).toBe('test')
    expect((await revoke({ key: alpha.key })).status).toBe(409)
  })

  test('to reject requires a comment, and to request changes does not', async () => {
    const id = await submitted()
    for (const comments of [{}, { public_comment: null }, { public_comment: '', private_comment: '' }]) {
      const { status, body } = await decide(id, { status: 'rejected', sequence: 2, ...comments })
      expect([status, body['detail']]).toEqual([400, expect.stringContaining('or private_comment is required')])
    }
    for (const comments of [{ public_comment: 'x'.repeat(1_001) }, { private_comment: 'a\u0000b' }]) {
      expect((await decide(id, { status: 'rejected', sequence: 2, ...comments })).status).toBe(400)
    }
    expect((await decide(id, { status: 'retry', sequence: 2 })).body['status']).toBe('retry')
    const rejection = { status: 'rejected', sequence: 2, private_comment: 'On a list.' }
    const decided = await decide(await submitted(), rejection)
    expect(decided.body).toMatchObject({ status: 'rejected', language: null })
    const completed = await submitted()
    await decide(completed, COMPLETION)
    const body = { status: 'rejected', sequence: 3 }
    expect((await call('POST', `/${completed}/revoke`, { key: alpha.key, body })).status).toBe(400)
  })
})

describe('an assignment', () => {
  test('at the same time as another is refused', async () => {
    const id = await submitted()
    expect(await statusesOf([assign(id, ada.id, 0), assign(id, bob.id, 0, bob)])).toEqual([200, 409])
  })

  test('prevents decisions by other reviewers until they take it over', async () => {
    const id = await submitted()
    expect((await assign(id, ada.id, 0)).body).toEqual({ assigned_to: ada.id, assignment_version: 1 })
    for (const caller of [bob, { key: alpha.key }]) expect((await decide(id, COMPLETION, caller)).status).toBe(409)
    expect((await assign(id, bob.id, 0, bob)).status).toBe(409)
    expect((await assign(id, bob.id, 1, bob)).status).toBe(200)
    await markChecksMade(harness.store, alpha.id, id)
    expect((await decide(id, COMPLETION)).status).toBe(409)
    expect((await decide(id, COMPLETION, bob)).status).toBe(200)
  })

  test('filters the queue, and can be removed', async () => {
    const [one, two] = [await submitted(), await submitted()]
    await assign(one, ada.id, 0)
    const queue = (assignee: string) => idsOf(`?status=submitted&assigned_to=${assignee}`)
    expect([await queue('nobody'), await queue(ada.id)]).toEqual([[two], [one]])
    await assign(one, null, 1)
    expect((await queue('nobody')).toSorted()).toEqual([one, two].sort())
  })

  test('is possible only to reviewers of the organization', async () => {
    const id = await submitted()
    const stranger = await harness.person({ email: 'stranger@example.com' })
    expect((await assign(id, (await createViewer()).id, 0)).status).toBe(409)
    for (const userId of [stranger.id, 'user_nobody']) expect((await assign(id, userId, 0)).status).toBe(404)
  })
})

describe('evidence', () => {
  test.each([
    ['fields', { full_name: 'Ada Example' }, undefined],
    ['zone', { surname: 'EXAMPLE', issuer: 'D', birth_date: '1990-01-01' }, 'zone'],
  ])('in %s is read by reviewers, and each reading is in the audit log', async (part, expected, recorded) => {
    const id = await submitted()
    const read = async (caller: CallOptions) => call('POST', `/${id}/evidence/${part}`, { ...caller, body: {} })
    expect((await read(await createViewer())).status).toBe(403)
    expect((await read(ada)).body).toMatchObject(expected)
    const entries = await harness.audited({ action: 'session.evidence-read' })
    expect(entries).toMatchObject([{ actor: `user:${ada.id}`, subject: id }])
    if (recorded !== undefined) expect(entries[0]?.detail).toEqual({ part: recorded })
    expect(JSON.stringify(entries)).not.toMatch(/Example|EXAMPLE/)
  })

  test('is not stored for an Idempotency-Key, and each read is recorded', async () => {
    const options = { key: alpha.key, body: {}, headers: { 'idempotency-key': 'read' } }
    const id = await submitted()
    for (let count = 1; count <= 2; count++) {
      expect((await call('POST', `/${id}/evidence/fields`, options)).body['full_name']).toBe('Ada Example')
      expect(await harness.audited({ action: 'session.evidence-read' })).toHaveLength(count)
    }
    expect(await harness.store.database.query('SELECT * FROM admin_idempotency')).toEqual([])
  })
})

describe('the checks of documents', () => {
  test('are pending until they finish, and are shown to reviewers of the organization', async () => {
    const { sessionChecks, sessionOrigins } = harness.store
    const id = await submitted()
    const read = (caller: CallOptions = ada) => call('GET', `/${id}/checks/documents`, caller)
    expect((await read()).body).toEqual({ waiting: true, checks: [], address_country: null })
    const [target] = await sessionChecks.claim(1, 60)
    await replaceChecks(harness.store, target!, 'document', [
      { name: 'document.number', outcome: 'look', detail: { sessions: ['other'] }, version: 'v1' },
      { name: 'document.zone', outcome: 'invented', detail: {}, version: 'v1' },
    ])
    await sessionChecks.finish(target!)
    await sessionOrigins.note(alpha.id, id, 'FR')
    expect((await read()).body).toMatchObject({
      waiting: false,
      address_country: 'FR',
      checks: [
        { check: 'document.number', outcome: 'look', sessions: ['other'], documents: [], minimum_age: null },
        { check: 'document.zone', outcome: 'not-done' },
      ],
    })
    expect((await read(await createViewer())).status).toBe(403)
    const stranger = await harness.member(await harness.organization('beta'), 'eve', 'reviewer')
    expect(await harness.status('GET', `/organizations/beta/sessions/${id}/checks/documents`, stranger)).toBe(404)
  })

  test('use the minimum age that an organization admin sets', async () => {
    const admin = await harness.member(alpha, 'admin')
    const path = '/organizations/alpha/minimum-age'
    const change = (body: object, caller = admin) => harness.call('PUT', path, { ...caller, body })
    const levels = { basic: null, standard: null, enhanced: null }
    expect((await change({ years: 21 }, ada)).status).toBe(403)
    for (const wrong of [{ years: 0 }, { levels: { enhanced: 100 } }, {}]) {
      expect((await change(wrong)).status).toBe(400)
    }
    expect((await change({ years: 21 })).status).toBe(200)
    expect((await harness.call('GET', path, ada)).body).toEqual({ years: 21, levels })
    for (const [body, expected] of [
      [{ levels: { enhanced: 25 } }, { years: 21, levels: { ...levels, enhanced: 25 } }],
      [
        { years: 20, levels: { enhanced: null } },
        { years: 20, levels },
      ],
      [{ years: null }, { years: null, levels }],
    ] as const) {
      expect(await change(body)).toEqual({ status: 200, body: expected })
    }
    const entries = await harness.audited({ action: 'organization.minimum-age' })
    expect(entries.map(({ detail }) => detail)).toEqual([
      { years: [20, null] },
      { years: [21, 20], enhanced: [25, null] },
      { enhanced: [null, 25] },
      { years: [null, 21] },
    ])
  })
})

describe('a hit', () => {
  const findHits = (sessionId: string, ...entries: readonly string[]) => {
    const hits = entries.map((entry) => ({
      entry,
      list: 'ofac-sdn',
      versionId: 'v1',
      name: 'LISTED',
      subject: 'person',
      basis: 'b',
      subjectBasis: 's',
      score: 90,
      why: [],
    }))
    const target = { organizationId: alpha.id, sessionId }
    const check = { name: 'lists.names', outcome: 'passed', detail: {}, version: 'k', hits }
    return replaceChecks(harness.store, target, 'lists', [check])
  }
  const hitsOf = (sessionId: string) => harness.store.screeningChecks.hits(alpha.id, sessionId)
  const decideHit = async (sessionId: string, changes: object, options: CallOptions = ada, at = 0) => {
    const body = { reason: 'The photo is another.', ...changes }
    return call('POST', `/${sessionId}/checks/lists/${(await hitsOf(sessionId))[at]?.id}`, { ...options, body })
  }

  test('is decided only by the assignee of an open session, with the state that the reviewer read', async () => {
    const id = await submitted()
    await findHits(id, '1')
    await assign(id, bob.id, 0, bob)
    const key = { key: alpha.key }
    const expectDecision = async (caller: CallOptions, changes: object, status: number, state: string) => {
      const decided = await decideHit(id, changes, caller)
      expect([decided.status, (await hitsOf(id))[0]?.state as string]).toEqual([status, state])
    }
    await expectDecision(ada, { state: 'cleared', expected: 'open' }, 409, 'open')
    await expectDecision(key, { state: 'cleared', expected: 'open' }, 409, 'open')
    await expectDecision(bob, { state: 'confirmed', expected: 'open' }, 200, 'confirmed')
    await expectDecision(bob, { state: 'cleared', expected: 'open' }, 409, 'confirmed')
    await expectDecision(bob, { state: 'cleared', expected: 'confirmed' }, 200, 'cleared')
    await markChecksMade(harness.store, alpha.id, id)
    expect((await decide(id, COMPLETION, bob)).status).toBe(200)
    await expectDecision(ada, { state: 'confirmed' }, 200, 'confirmed')
  })

  test('is decided once per Idempotency-Key, and similar names are not stored', async () => {
    const id = await submitted()
    await findHits(id, '1')
    const options = { key: alpha.key, headers: { 'idempotency-key': 'cleared' } }
    const { status, body } = await decideHit(id, { state: 'cleared' }, options)
    expect([status, (body['hits'] as unknown[]).length]).toEqual([200, 1])
    const stored = await harness.store.database.query('SELECT response_body AS body FROM admin_idempotency')
    expect(stored).toEqual([{ body: '' }])
    const again = await decideHit(id, { state: 'cleared' }, options)
    expect([again.status, again.body['detail']]).toEqual([409, expect.stringContaining('made its change')])
    expect(await harness.audited({ action: 'screening.hit' })).toHaveLength(1)
  })

  test('is counted in the queue by its state, and filters and sorts the queue', async () => {
    const [none, open, cleared] = [await submitted(), await submitted(), await submitted()]
    await findHits(open, '1', '2')
    await findHits(cleared, '3')
    expect((await decideHit(cleared, { state: 'cleared' })).status).toBe(200)
    expect((await decideHit(open, { state: 'confirmed' })).status).toBe(200)
    await harness.store.database.execute('UPDATE sessions SET level = 2 WHERE id = ?', [cleared])

    const { body } = await call('GET', '?status=submitted')
    const shown = (body['data'] as { id: string; hits: object }[]).map(({ id, hits }) => [id, hits] as const)
    expect(Object.fromEntries(shown)).toEqual({
      [none]: { open: 0, cleared: 0, confirmed: 0 },
      [open]: { open: 1, cleared: 0, confirmed: 1 },
      [cleared]: { open: 0, cleared: 1, confirmed: 0 },
    })
    expect((await call('GET', `/${open}`)).body['hits']).toEqual({ open: 1, cleared: 0, confirmed: 1 })
    for (const [query, ids] of [
      ['?hits=open', [open]],
      ['?hits=confirmed', [open]],
      ['?hits=cleared', [cleared]],
      ['?hits=none', [none]],
      ['?level=basic', [none, open].sort()],
      ['?level=standard&hits=cleared', [cleared]],
      ['?level=standard&hits=open', []],
    ] as const) {
      expect([query, (await idsOf(query)).toSorted()]).toEqual([query, [...ids]])
    }
    const later = await submitted()
    await findHits(later, '4')
    // Sessions with open hits come first, then the longest waiting.
    const expected = [open, later, ...[none, cleared].sort()]
    for (const limit of [1, 2, 3, 4, 50]) {
      const ids: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page = await call('GET', `?status=submitted&order=hits&limit=${limit}${cursor}`)
        ids.push(...(page.body['data'] as { id: string }[]).map(({ id }) => id))
        const next = page.body['next_cursor'] as string | null
        cursor = next === null ? null : `&cursor=${next}`
      }
      expect([limit, ids]).toEqual([limit, expected])
    }
    const other = (await call('GET', '?status=submitted&limit=1')).body['next_cursor']
    for (const query of [`?order=hits&cursor=${other}`, '?hits=some']) {
      expect((await call('GET', query)).status).toBe(400)
    }
  })
})

test('the queue is sorted and filtered by time, and shows the time of submission', async () => {
  const [one, two] = [await submitted(), await submitted()]
  expect([await idsOf('?order=oldest'), await idsOf('?order=newest')]).toEqual([
    [one, two],
    [two, one],
  ])
  const { body } = await call('GET', '?order=oldest&limit=1')
  expect((body['data'] as Json[])[0]?.['submitted_at']).toBeString()
  expect(await idsOf('?created_before=2001-01-01')).toEqual([])
  expect(await idsOf('?created_before=2101-01-01')).toHaveLength(2)
  expect((await call('GET', '?created_before=today')).status).toBe(400)
})
