// Reviewing through the API: two reviewers can't overwrite each other, and nothing is decided on what one did not see.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { evmWallet } from '../identity/support.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { replaceChecks } from '../support/replace-checks.ts'
import { type Harness, type Organization, type Person, startHarness } from './support/harness.ts'
import type { CallOptions } from './support/request.ts'

let harness: Harness
let alpha: Organization
let ada: Person
let bob: Person

beforeEach(async () => {
  harness = await startHarness()
  alpha = await harness.organization('alpha')
  ada = await harness.person({ email: 'ada@example.com', roles: { [alpha.id]: 'reviewer' } })
  bob = await harness.person({ email: 'bob@example.com', roles: { [alpha.id]: 'reviewer' } })
})
afterEach(() => harness.close())

const submitted = (): Promise<string> => harness.session(alpha.id, ['submitted'])
const call = (method: string, path: string, options: CallOptions) =>
  harness.call(method, `/organizations/alpha/sessions${path}`, options)
const viewerOf = () => harness.person({ email: 'viewer@example.com', roles: { [alpha.id]: 'viewer' } })
const decide = (id: string, body: object, who = ada) => call('POST', `/${id}/decide`, { cookie: who.cookie, body })
const assign = (id: string, user_id: string | null, version: number, who = ada) =>
  call('PUT', `/${id}/assignment`, { cookie: who.cookie, body: { user_id, version } })

describe('a decision', () => {
  test('is made with comments for the person and for colleagues, by a name', async () => {
    const id = await submitted()
    const { status, body } = await decide(id, {
      status: 'retry',
      sequence: 2,
      public_comment: 'The photograph is blurred.',
      private_comment: 'Second try.',
      corrections: ['fullName'],
    })
    expect([status, body['status'], body['public_comment']]).toEqual([200, 'retry', 'The photograph is blurred.'])
    expect((body['events'] as Record<string, unknown>[]).at(-1)).toMatchObject({
      actor: 'operator:ada@example.com',
      public_comment: 'The photograph is blurred.',
      private_comment: 'Second try.',
    })
  })

  test('on a state that is not the one that was seen is refused', async () => {
    const id = await submitted()
    const both = await Promise.all([
      decide(id, { status: 'completed', sequence: 2, override: true }, ada),
      decide(id, { status: 'rejected', sequence: 2, private_comment: 'Looks edited.' }, bob),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    const winner = both.find(({ status }) => status === 200)
    expect((await call('GET', `/${id}`, { cookie: ada.cookie })).body['status']).toBe(winner?.body['status'])
  })

  test('completes an incomplete session only by an override, which the audit log and the history keep', async () => {
    const id = await harness.session(alpha.id, ['submitted'])
    await markChecksMade(harness.store, alpha.id, id)
    const refused = await decide(id, { status: 'completed', sequence: 2 })
    expect(refused).toMatchObject({ status: 409, body: { code: 'SESSION_INCOMPLETE' } })
    expect(refused.body['detail']).toContain('wallets, fullName, birthDate, country')
    expect((await decide(id, { status: 'completed', sequence: 2, override: false })).status).toBe(409)
    const wrong = await decide(id, { status: 'retry', sequence: 2, override: true })
    expect([wrong.status, wrong.body['detail']]).toEqual([400, expect.stringContaining('override')])
    const { body } = await call('GET', `/${id}`, { cookie: ada.cookie })
    expect(body).toMatchObject({ status: 'submitted', missing: ['wallets', 'fullName', 'birthDate', 'country'] })
    const decided = await decide(id, { status: 'completed', sequence: 2, override: true })
    expect((decided.body['events'] as Record<string, unknown>[]).at(-1)).toMatchObject({
      status: 'completed',
      overridden: ['wallets', 'fullName', 'birthDate', 'country'],
    })
    const { items } = await harness.store.audit.page({ organizationId: alpha.id }, { after: null, limit: 1 })
    expect(items[0]).toMatchObject({
      action: 'session.decide',
      subject: id,
      detail: { status: ['submitted', 'completed'], overridden: 'wallets, fullName, birthDate, country' },
    })
  })

  test('completes a session that was never submitted once the checks of its wallets are made, which it has made', async () => {
    const { store } = harness
    const id = await harness.session(alpha.id, [], { environment: 'test' })
    await store.sessionWallets.connect({
      organizationId: alpha.id,
      sessionId: id,
      address: evmWallet(1),
      chain: 'ethereum',
      nonce: null,
      proof: { kind: 'sandbox', message: '', signature: '' },
      actor: 'person',
    })
    const body = { status: 'completed', sequence: 2, override: true }
    const incomplete = await decide(id, { ...body, override: false })
    expect(incomplete.body['code']).toBe('SESSION_INCOMPLETE')
    expect(await store.sessionChecks.isPending(alpha.id, id)).toBe(false)
    const path = `/organizations/alpha/sessions/${id}/decide`
    const pending = await harness.request('POST', path, { cookie: ada.cookie, body })
    expect([pending.status, pending.headers.get('retry-after')]).toEqual([409, '5'])
    expect(await pending.json()).toMatchObject({ detail: expect.stringContaining('still running') })
    expect(await store.sessionChecks.isPending(alpha.id, id)).toBe(true)
    await store.sessionChecks.markMade({ organizationId: alpha.id, sessionId: id, sequence: 2 })
    expect((await decide(id, body)).body['status']).toBe('completed')
  })

  test('can’t take back a completed session by accident; an admin revokes it', async () => {
    const id = await submitted()
    const pending = await decide(id, { status: 'completed', sequence: 2, override: true })
    expect([pending.status, pending.body['detail']]).toEqual([409, expect.stringContaining('still running')])
    await markChecksMade(harness.store, alpha.id, id)
    await decide(id, { status: 'completed', sequence: 2, override: true })
    const rejected = { status: 'rejected', sequence: 3, public_comment: 'The document was altered.' }
    expect((await decide(id, rejected)).status).toBe(409)
    const revoke = (options: CallOptions) => call('POST', `/${id}/revoke`, { ...options, body: rejected })
    expect((await revoke({ cookie: ada.cookie })).status).toBe(403)
    const { body } = await revoke({ key: alpha.key })
    expect(body['status']).toBe('rejected')
    const [made, last] = [0, -1].map((at) => (body['events'] as Record<string, unknown>[]).at(at))
    expect([made?.['actor'], made?.['key_name'], last?.['key_name']]).toEqual(['key:test', null, 'test'])
    expect((await revoke({ key: alpha.key })).status).toBe(409)
  })

  test('a final rejection says why, to the person or to colleagues; sending back need not', async () => {
    const id = await submitted()
    for (const comments of [{}, { public_comment: null }, { public_comment: '', private_comment: '' }]) {
      const refused = await decide(id, { status: 'rejected', sequence: 2, ...comments })
      expect([refused.status, refused.body['detail']]).toEqual([
        400,
        expect.stringContaining('or private_comment is required'),
      ])
    }
    expect((await decide(id, { status: 'retry', sequence: 2 })).body['status']).toBe('retry')
    const other = await submitted()
    const decided = await decide(other, { status: 'rejected', sequence: 2, private_comment: 'On a list.' })
    expect(decided.body).toMatchObject({ status: 'rejected', language: null })
    const third = await submitted()
    await decide(third, { status: 'completed', sequence: 2, override: true })
    const body = { status: 'rejected', sequence: 3 }
    expect((await call('POST', `/${third}/revoke`, { key: alpha.key, body })).status).toBe(400)
  })

  test('a comment that is too long or not printable is refused', async () => {
    const id = await submitted()
    expect((await decide(id, { status: 'rejected', sequence: 2, public_comment: 'x'.repeat(1_001) })).status).toBe(400)
    expect((await decide(id, { status: 'rejected', sequence: 2, private_comment: 'a\u0000b' })).status).toBe(400)
  })
})

describe('the queue', () => {
  test('comes oldest first where asked, says since when each waits, and leaves out what is newer than a time', async () => {
    const [one, two] = [await submitted(), await submitted()]
    const queue = async (query: string) =>
      (await call('GET', `?${query}`, { cookie: ada.cookie })).body['data'] as { id: string; submitted_at: string }[]
    expect((await queue('order=oldest')).map(({ id }) => id)).toEqual([one, two])
    expect((await queue('order=newest')).map(({ id }) => id)).toEqual([two, one])
    const [first] = await queue('order=oldest&limit=1')
    expect(first?.submitted_at).toBeString()
    expect(await queue('created_before=2001-01-01')).toEqual([])
    expect(await queue('created_before=2101-01-01')).toHaveLength(2)
    expect((await call('GET', '?created_before=today', { cookie: ada.cookie })).status).toBe(400)
  })
})

describe('an assignment', () => {
  test('goes to one of two who reach for it', async () => {
    const id = await submitted()
    const both = await Promise.all([assign(id, ada.id, 0, ada), assign(id, bob.id, 0, bob)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('is needed by no one, and keeps others off who did not take it over', async () => {
    const id = await submitted()
    expect((await assign(id, ada.id, 0)).body).toEqual({ assigned_to: ada.id, assignment_version: 1 })
    expect((await decide(id, { status: 'completed', sequence: 2, override: true }, bob)).status).toBe(409)
    expect(
      (
        await call('POST', `/${id}/decide`, {
          key: alpha.key,
          body: { status: 'completed', sequence: 2, override: true },
        })
      ).status,
    ).toBe(409)
    expect((await assign(id, bob.id, 0, bob)).status).toBe(409)
    expect((await assign(id, bob.id, 1, bob)).status).toBe(200)
    await markChecksMade(harness.store, alpha.id, id)
    expect((await decide(id, { status: 'completed', sequence: 2, override: true }, ada)).status).toBe(409)
    expect((await decide(id, { status: 'completed', sequence: 2, override: true }, bob)).status).toBe(200)
  })

  test('is given up again, and shows in the queue', async () => {
    const [one, two] = [await submitted(), await submitted()]
    await assign(one, ada.id, 0)
    const queue = async (query: string) =>
      ((await call('GET', `?status=submitted&${query}`, { cookie: ada.cookie })).body['data'] as { id: string }[]).map(
        ({ id }) => id,
      )
    expect(await queue('assigned_to=nobody')).toEqual([two])
    expect(await queue(`assigned_to=${ada.id}`)).toEqual([one])
    await assign(one, null, 1)
    expect((await queue('assigned_to=nobody')).sort()).toEqual([one, two].sort())
  })

  test('is for those who may review here', async () => {
    const id = await submitted()
    const viewer = await viewerOf()
    const stranger = await harness.person({ email: 'stranger@example.com' })
    expect((await assign(id, viewer.id, 0)).status).toBe(409)
    expect((await assign(id, stranger.id, 0)).status).toBe(404)
    expect((await assign(id, 'user_nobody', 0)).status).toBe(404)
  })
})

describe('evidence', () => {
  test('is opened by reviewers, and every reading is in the audit log', async () => {
    const id = await submitted()
    const viewer = await viewerOf()
    expect((await call('POST', `/${id}/evidence/fields`, { cookie: viewer.cookie, body: {} })).status).toBe(403)
    const { body } = await call('POST', `/${id}/evidence/fields`, { cookie: ada.cookie, body: {} })
    expect(body['full_name']).toBe('Ada Example')
    const items = await harness.audited({ action: 'session.evidence-read' })
    expect(items.map(({ actor, subject }) => [actor, subject])).toEqual([[`user:${ada.id}`, id]])
    expect(JSON.stringify(items)).not.toContain('Ada Example')
  })

  test('is not stored for a repeated Idempotency-Key: each reading is recorded', async () => {
    const id = await submitted()
    const read = () =>
      call('POST', `/${id}/evidence/fields`, { key: alpha.key, body: {}, headers: { 'idempotency-key': 'read' } })
    for (let count = 1; count <= 2; count++) {
      expect((await read()).body['full_name']).toBe('Ada Example')
      expect(await harness.audited({ action: 'session.evidence-read' })).toHaveLength(count)
    }
    expect(await harness.store.database.query('SELECT * FROM admin_idempotency')).toEqual([])
  })

  test('that the service read itself is shown to reviewers, and that is in the audit log', async () => {
    const id = await submitted()
    const viewer = await viewerOf()
    expect((await call('POST', `/${id}/evidence/zone`, { cookie: viewer.cookie, body: {} })).status).toBe(403)
    const { body } = await call('POST', `/${id}/evidence/zone`, { cookie: ada.cookie, body: {} })
    expect(body).toMatchObject({ surname: 'EXAMPLE', issuer: 'D', birth_date: '1990-01-01' })
    const items = await harness.audited({ action: 'session.evidence-read' })
    expect(items.map(({ subject, detail }) => [subject, detail])).toEqual([[id, { part: 'zone' }]])
  })
})

describe('the checks of documents', () => {
  test('are shown to reviewers with what they found, and wait until they are made', async () => {
    const id = await submitted()
    const read = async (who = ada) => call('GET', `/${id}/checks/documents`, { cookie: who.cookie })
    expect((await read()).body).toEqual({ waiting: true, checks: [], address_country: null })
    const [target] = await harness.store.sessionChecks.claim(1, 60)
    await replaceChecks(harness.store, target!, 'document', [
      { name: 'document.number', outcome: 'look', detail: { sessions: ['other'] }, version: 'v1' },
      { name: 'document.zone', outcome: 'invented', detail: {}, version: 'v1' },
    ])
    await harness.store.sessionChecks.finish(target!)
    await harness.store.sessionOrigins.note(alpha.id, id, 'FR')
    const { body } = await read()
    expect(body).toMatchObject({
      waiting: false,
      address_country: 'FR',
      checks: [
        { check: 'document.number', outcome: 'look', sessions: ['other'], documents: [], minimum_age: null },
        { check: 'document.zone', outcome: 'not-done' },
      ],
    })
    const viewer = await viewerOf()
    expect((await read(viewer)).status).toBe(403)
    const beta = await harness.organization('beta')
    const stranger = await harness.person({ email: 'eve@example.com', roles: { [beta.id]: 'reviewer' } })
    const elsewhere = await harness.request('GET', `/organizations/beta/sessions/${id}/checks/documents`, stranger)
    expect(elsewhere.status).toBe(404)
  })

  test('ask for the age that the organization’s admins set', async () => {
    const boss = await harness.person({ email: 'boss@example.com', roles: { [alpha.id]: 'organization-admin' } })
    const change = (body: object, who = boss) =>
      harness.request('PUT', '/organizations/alpha/minimum-age', { cookie: who.cookie, body })
    const put = (years: unknown, who = boss) => change({ years }, who)
    expect((await put(21, ada)).status).toBe(403)
    expect((await put(0)).status).toBe(400)
    expect((await put(21)).status).toBe(200)
    const read = await harness.request('GET', '/organizations/alpha/minimum-age', { cookie: ada.cookie })
    const levels = { basic: null, standard: null, enhanced: null }
    expect(await read.json()).toEqual({ years: 21, levels })
    expect((await change({ levels: { enhanced: 100 } })).status).toBe(400)
    expect((await change({})).status).toBe(400)
    const enhanced = { ...levels, enhanced: 25 }
    expect(await (await change({ levels: { enhanced: 25 } })).json()).toEqual({ years: 21, levels: enhanced })
    expect(await (await change({ years: 20, levels: { enhanced: null } })).json()).toEqual({ years: 20, levels })
    expect((await put(null)).status).toBe(200)
    const items = await harness.audited({ action: 'organization.minimum-age' })
    expect(items.map(({ detail }) => detail)).toEqual([
      { years: [20, null] },
      { years: [21, 20], enhanced: [25, null] },
      { enhanced: [null, 25] },
      { years: [null, 21] },
    ])
  })
})

describe('the queue', () => {
  const hit = (entry: string) => ({
    entry,
    list: 'ofac-sdn',
    versionId: 'v1',
    name: 'LISTED',
    subject: 'person',
    basis: 'b',
    subjectBasis: 's',
    score: 90,
    why: [],
  })
  const found = (sessionId: string, entries: readonly string[]) =>
    replaceChecks(harness.store, { organizationId: alpha.id, sessionId }, 'lists', [
      { name: 'lists.names', outcome: 'passed', detail: {}, version: 'k', hits: entries.map(hit) },
    ])
  const idsOf = async (query: string): Promise<readonly string[]> => {
    const { status, body } = await call('GET', query, { cookie: ada.cookie })
    expect(status).toBe(200)
    return (body['data'] as { id: string }[]).map(({ id }) => id).sort()
  }

  test('a decision about a hit needs the assignment of an open session, and the state that the reviewer read', async () => {
    const id = await submitted()
    await found(id, ['1'])
    const [{ id: hitId } = { id: '' }] = await harness.store.screeningChecks.hits(alpha.id, id)
    const decideHit = async (state: string, expected: string | undefined, who: object) => {
      const body = { state, reason: 'The photo is another.', ...(expected === undefined ? {} : { expected }) }
      const answer = await call('POST', `/${id}/checks/lists/${hitId}`, { ...who, body })
      const [hit] = await harness.store.screeningChecks.hits(alpha.id, id)
      return [answer.status, hit?.state]
    }
    await assign(id, bob.id, 0, bob)
    expect(await decideHit('cleared', 'open', { cookie: ada.cookie })).toEqual([409, 'open'])
    expect(await decideHit('cleared', 'open', { key: alpha.key })).toEqual([409, 'open'])
    expect(await decideHit('confirmed', 'open', { cookie: bob.cookie })).toEqual([200, 'confirmed'])
    expect(await decideHit('cleared', 'open', { cookie: bob.cookie })).toEqual([409, 'confirmed'])
    expect(await decideHit('cleared', 'confirmed', { cookie: bob.cookie })).toEqual([200, 'cleared'])
    await markChecksMade(harness.store, alpha.id, id)
    expect((await decide(id, { status: 'completed', sequence: 2, override: true }, bob)).status).toBe(200)
    expect(await decideHit('confirmed', undefined, { cookie: ada.cookie })).toEqual([200, 'confirmed'])
  })

  test('a decision about a hit is made once per Idempotency-Key, and similar names are not stored', async () => {
    const id = await submitted()
    await found(id, ['1'])
    const [hit] = await harness.store.screeningChecks.hits(alpha.id, id)
    const decideHit = () =>
      call('POST', `/${id}/checks/lists/${hit?.id}`, {
        key: alpha.key,
        body: { state: 'cleared', reason: 'The photo is another.' },
        headers: { 'idempotency-key': 'cleared' },
      })
    const { status, body } = await decideHit()
    expect([status, (body['hits'] as unknown[]).length]).toEqual([200, 1])
    const stored = await harness.store.database.query('SELECT response_body AS body FROM admin_idempotency')
    expect(stored).toEqual([{ body: '' }])
    const again = await decideHit()
    expect([again.status, again.body['detail']]).toEqual([409, expect.stringContaining('made its change')])
    expect(await harness.audited({ action: 'screening.hit' })).toHaveLength(1)
  })

  test('shows the hits of each session by what was decided, and is cut by them and by level', async () => {
    const [none, open, cleared] = [await submitted(), await submitted(), await submitted()]
    await found(open, ['1', '2'])
    await found(cleared, ['3'])
    const decideHit = async (sessionId: string, at: number, state: 'cleared' | 'confirmed') => {
      const hits = await harness.store.screeningChecks.hits(alpha.id, sessionId)
      const body = { state, reason: 'Another date of birth.' }
      return call('POST', `/${sessionId}/checks/lists/${hits[at]?.id}`, { cookie: ada.cookie, body })
    }
    expect((await decideHit(cleared, 0, 'cleared')).status).toBe(200)
    expect((await decideHit(open, 0, 'confirmed')).status).toBe(200)
    await harness.store.database.execute('UPDATE sessions SET level = 2 WHERE id = ?', [cleared])

    const { body } = await call('GET', '?status=submitted', { cookie: ada.cookie })
    const shown = (body['data'] as { id: string; hits: object }[]).map(({ id, hits }) => [id, hits] as const)
    expect(new Map(shown)).toEqual(
      new Map([
        [none, { open: 0, cleared: 0, confirmed: 0 }],
        [open, { open: 1, cleared: 0, confirmed: 1 }],
        [cleared, { open: 0, cleared: 1, confirmed: 0 }],
      ]),
    )
    const one = await call('GET', `/${open}`, { cookie: ada.cookie })
    expect(one.body['hits']).toEqual({ open: 1, cleared: 0, confirmed: 1 })
    for (const [query, ids] of [
      ['?hits=open', [open]],
      ['?hits=confirmed', [open]],
      ['?hits=cleared', [cleared]],
      ['?hits=none', [none]],
      ['?level=basic', [none, open].sort()],
      ['?level=standard&hits=cleared', [cleared]],
      ['?level=standard&hits=open', []],
    ] as const) {
      expect([query, await idsOf(query)]).toEqual([query, ids])
    }
    const [first, second] = [none, cleared].sort()
    const later = await submitted()
    await found(later, ['4'])
    // Whatever the size of a page, each session once: those with open hits first, then the longest waiting.
    for (const limit of [1, 2, 3, 4, 50]) {
      const ids: string[] = []
      let cursor = ''
      do {
        const page = await call('GET', `?status=submitted&order=hits&limit=${limit}${cursor}`, { cookie: ada.cookie })
        ids.push(...(page.body['data'] as { id: string }[]).map(({ id }) => id))
        const next = page.body['next_cursor'] as string | null
        cursor = next === null ? '' : `&cursor=${next}`
      } while (cursor !== '')
      expect([limit, ids]).toEqual([limit, [open, later, first ?? '', second ?? '']])
    }
    const other = (await call('GET', '?status=submitted&limit=1', { cookie: ada.cookie })).body['next_cursor']
    expect((await call('GET', `?order=hits&cursor=${other}`, { cookie: ada.cookie })).status).toBe(400)
    expect((await call('GET', '?hits=some', { cookie: ada.cookie })).status).toBe(400)
  })
})
