// The audit log: there for every change, never without it, and not to be altered unseen.
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { csvLine } from '../../src/lib/csv.ts'
import { AUDIT_ROOT, auditHashOf } from '../../src/store/audit.ts'
import { allKeys } from '../support/all-rows.ts'
import { type Harness, type Organization, startHarness } from './support/harness.ts'
import { ADDRESS } from './support/request.ts'

let harness: Harness
let alpha: Organization

beforeEach(async () => {
  harness = await startHarness()
  alpha = await harness.organization('alpha')
})
afterEach(() => harness.close())

const entries = () => harness.audited({}, 200)

const issue = (name: string, headers = {}): Promise<Response> =>
  harness.request('POST', '/organizations/alpha/keys', { key: alpha.key, body: { name, kind: 'attestation' }, headers })

const fill = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n++) await issue(`key ${n}`)
}

/** Goes around the store, as someone with the file in their hands would. */
const around = (...statements: readonly string[]): void => {
  const database = new Database(`${harness.folder}/countersign.db`)
  for (const statement of statements) database.run(statement)
  database.close()
}
const tamper = (statement: string): void =>
  around('DROP TRIGGER audit_log_refuses_update', 'DROP TRIGGER audit_log_refuses_delete', statement)

describe('a change', () => {
  test('is noted with who, what, before and after, and without any secret', async () => {
    const issued = (await (await issue('trading')).json()) as { key: string; record: { id: string } }
    const [entry] = await entries()
    expect(entry).toMatchObject({
      sequence: 1,
      organizationId: alpha.id,
      actor: `key:${alpha.key.slice(9, 21)}`,
      action: 'key.issue',
      subject: issued.record.id,
      detail: { name: 'trading', kind: 'attestation' },
    })
    expect(JSON.stringify(entry)).not.toContain(issued.key)
    await harness.request('PATCH', '/organizations/alpha', { key: alpha.key, body: { name: 'Alpha & Co' } })
    const [renamed] = await entries()
    expect(renamed?.detail).toEqual({ name: ['alpha', 'Alpha & Co'], level: ['basic', 'basic'] })
  })

  test('that fails leaves no entry, and an entry that fails leaves no change', async () => {
    await harness.request('POST', '/organizations/alpha/projects', {
      key: alpha.key,
      body: { name: 'x', policy_id: 'none' },
    })
    expect(await entries()).toEqual([])
    around("CREATE TRIGGER full BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'full'); END")
    expect((await issue('lost')).status).toBeGreaterThanOrEqual(400)
    expect((await allKeys(harness.store, alpha.id)).map(({ name }) => name)).toEqual(['test'])
  })

  test('answered under a request id has it in its entry', async () => {
    await issue('x', { 'x-request-id': 'req-42' })
    expect((await entries())[0]?.requestId).toBe('req-42')
  })

  test('says where its request came from, as the listener knows it', async () => {
    await fill(1)
    expect((await entries())[0]?.address).toBe(ADDRESS)
    const { body } = await harness.call('GET', '/organizations/alpha/audit', { key: alpha.key })
    expect(body['data']).toMatchObject([{ address: ADDRESS }])
  })
})

describe('the chain', () => {
  test('begins at the root and holds, and each hash can be computed by anyone', async () => {
    await fill(5)
    expect(await harness.store.audit.verify()).toMatchObject({ ok: true, entries: 5, brokenAt: null })
    const oldest = (await entries()).at(-1)
    expect(oldest?.previousHash).toBe(AUDIT_ROOT)
    expect(auditHashOf(oldest!)).toBe(oldest!.hash)
  })

  test('holds over entries from before there were addresses', async () => {
    await harness.store.audit.append({
      organizationId: null,
      actor: 'service',
      actorName: '',
      action: 'old',
      subject: '',
      detail: {},
      requestId: '',
    })
    const [entry] = await entries()
    const array = [1, entry!.atSeconds, null, 'service', '', 'old', '', '{}', '', AUDIT_ROOT]
    expect(entry!.hash).toBe(createHash('sha256').update(JSON.stringify(array)).digest('hex'))
    await fill(1)
    expect(await harness.store.audit.verify()).toMatchObject({ ok: true, entries: 2 })
  })

  test('takes no change and no deletion, from the store itself neither', async () => {
    await fill(2)
    const { database } = harness.store
    await expect(database.execute("UPDATE audit_log SET actor = 'nobody'")).rejects.toThrow()
    await expect(database.execute('DELETE FROM audit_log')).rejects.toThrow()
    expect(await harness.store.audit.verify()).toMatchObject({ ok: true, entries: 2 })
  })

  const tampering: ReadonlyArray<readonly [string, string, number]> = [
    ['an altered entry', "UPDATE audit_log SET actor = 'key:someone' WHERE sequence = 3", 3],
    ['an altered detail', "UPDATE audit_log SET detail = '{}' WHERE sequence = 2", 2],
    ['an entry moved to another organization', 'UPDATE audit_log SET organization_id = NULL WHERE sequence = 4', 4],
    ['an altered address', "UPDATE audit_log SET address = '10.0.0.1' WHERE sequence = 3", 3],
    ['an address taken away', "UPDATE audit_log SET address = '' WHERE sequence = 3", 3],
    ['an entry taken out', 'DELETE FROM audit_log WHERE sequence = 3', 3],
    ['the first taken out', 'DELETE FROM audit_log WHERE sequence = 1', 1],
    ['the last cut off', 'DELETE FROM audit_log WHERE sequence = 5', 5],
    ['all of it gone', 'DELETE FROM audit_log', 1],
  ]
  for (const [what, statement, brokenAt] of tampering) {
    test(`shows ${what}`, async () => {
      await fill(5)
      tamper(statement)
      expect(await harness.store.audit.verify()).toMatchObject({ ok: false, brokenAt })
    })
  }

  test('shows an entry whose hash was computed anew', async () => {
    await fill(3)
    const [third, second] = await entries()
    const forged = auditHashOf({ ...second!, actor: 'key:other' })
    tamper(`UPDATE audit_log SET actor = 'key:other', hash = '${forged}' WHERE sequence = 2`)
    expect(third?.sequence).toBe(3)
    expect(await harness.store.audit.verify()).toMatchObject({ ok: false, brokenAt: 3 })
  })

  test('keeps its order when many write at once', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => issue(`key ${n}`)))
    expect(await harness.store.audit.verify()).toMatchObject({ ok: true, entries: 20 })
  })
})

describe('reading it', () => {
  test('an organization sees its own entries only, and can filter them', async () => {
    const beta = await harness.organization('beta')
    await issue('one')
    await harness.request('POST', '/organizations/beta/keys', {
      key: beta.key,
      body: { name: 'two', kind: 'identity' },
    })
    const read = async (slug: string, key: string, query = '') =>
      (await harness.call('GET', `/organizations/${slug}/audit${query}`, { key })).body['data']
    expect(await read('alpha', alpha.key)).toMatchObject([{ detail: { name: 'one' } }])
    expect(await read('beta', beta.key, '?action=key.issue')).toMatchObject([{ detail: { name: 'two' } }])
    expect(await read('beta', beta.key, '?action=key.revoke')).toEqual([])
    // By how an action begins, and as it is written: nothing in it is a pattern.
    expect(await read('beta', beta.key, '?action=key.')).toHaveLength(1)
    for (const action of ['ey.issue', 'key_', 'key%25', '%25']) {
      expect(await read('beta', beta.key, `?action=${action}`)).toEqual([])
    }
  })
})

describe('the log', () => {
  test('is found by time, and by who it was by id or name', async () => {
    await fill(1)
    harness.clock.advance(3_600)
    const ada = await harness.person({ email: 'ada@example.com', roles: { [alpha.id]: 'organization-admin' } })
    await harness.request('PATCH', '/organizations/alpha', { cookie: ada.cookie, body: { name: 'A' } })
    const ask = (query: string) =>
      harness.call<{ data: { action: string }[] }>('GET', `/organizations/alpha/audit?${query}`, { key: alpha.key })
    const found = async (query: string) => (await ask(query)).body.data.map(({ action }) => action)
    const between = encodeURIComponent(new Date((harness.clock.unixSeconds() - 1_800) * 1_000).toISOString())
    expect(await found(`since=${between}`)).toEqual(['organization.change'])
    expect(await found(`until=${between}`)).toEqual(['key.issue'])
    expect(await found('actor=ADA@example.com')).toEqual(['organization.change'])
    expect(await found(`actor=user:${ada.id}`)).toEqual(['organization.change'])
    expect((await ask('since=today')).status).toBe(400)
  })

  test('is taken out whole, as filtered, with no formula in it, and that is an entry', async () => {
    await issue('=1+1')
    await fill(3)
    const take = async (query: string) =>
      (await harness.request('GET', `/organizations/alpha/audit/export?${query}`, { key: alpha.key })).text()
    const lines = (await take('format=ndjson&action=key.')).trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { sequence: number }).sequence)).toEqual([4, 3, 2, 1])
    const csv = await take('format=csv')
    const rows = csv.trimEnd().split('\r\n')
    expect(rows[0]).toStartWith('sequence,at,')
    // The first export is an entry, the second is one as well.
    expect(rows).toHaveLength(1 + 6)
    expect((await entries())[0]).toMatchObject({ action: 'audit.export', detail: { format: 'csv' } })
    expect(csvLine(['=1+1', '-2', 5, 'a "b"', null])).toBe(`'=1+1,'-2,5,"a ""b""",\r\n`)
    expect((await harness.store.audit.verify()).ok).toBe(true)
  })
})
