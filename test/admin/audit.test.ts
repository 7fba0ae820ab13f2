// The audit log: one entry per change, no other entries, and a hash chain that reveals tampering.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { csvLine } from '../../src/lib/csv.ts'
import { AUDIT_ROOT, auditHashOf } from '../../src/store/audit.ts'
import { allKeys } from '../support/all-rows.ts'
import { harnessOfTest, organizationOfTest } from './support/harness.ts'
import { ADDRESS } from './support/request.ts'

const harness = harnessOfTest()
const alpha = organizationOfTest(harness, 'alpha')

const entries = () => harness.audited({}, 200)
const verify = () => harness.store.audit.verify()
const issue = (name: string, headers = {}) =>
  harness.call<{ key: string; record: { id: string } }>('POST', '/organizations/alpha/keys', {
    key: alpha.key,
    body: { name, kind: 'attestation' },
    headers,
  })
const fill = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n++) await issue(`key ${n}`)
}
const read = async (query: string, slug = 'alpha', { key } = alpha) => {
  const { status, body } = await harness.call('GET', `/organizations/${slug}/audit?${query}`, { key })
  return { status, data: body['data'] as { action: string }[] }
}

/** Changes the database file without the store. */
const change = (...statements: readonly string[]): void => {
  const database = new Database(`${harness.folder}/countersign.db`)
  for (const statement of statements) database.run(statement)
  database.close()
}
const tamper = (statement: string): void =>
  change('DROP TRIGGER audit_log_refuses_update', 'DROP TRIGGER audit_log_refuses_delete', statement)

describe('a change', () => {
  test('is recorded with its actor, request, address, and values before and after, and without secrets', async () => {
    const { body } = await issue('trading', { 'x-request-id': 'req-42' })
    const [entry] = await entries()
    expect(entry).toMatchObject({
      sequence: 1,
      organizationId: alpha.id,
      actor: `key:${alpha.key.slice(9, 21)}`,
      action: 'key.issue',
      subject: body.record.id,
      detail: { name: 'trading', kind: 'attestation' },
      requestId: 'req-42',
      address: ADDRESS,
    })
    expect(JSON.stringify(entry)).not.toContain(body.key)
    expect((await read('')).data).toMatchObject([{ address: ADDRESS }])
    await harness.request('PATCH', '/organizations/alpha', { key: alpha.key, body: { name: 'Alpha & Co' } })
    const [renamed] = await entries()
    expect(renamed?.detail).toEqual({ name: ['alpha', 'Alpha & Co'], level: ['basic', 'basic'] })
  })

  test('that fails has no entry, and is rolled back if its entry fails', async () => {
    const body = { name: 'x', policy_id: 'none' }
    await harness.request('POST', '/organizations/alpha/projects', { key: alpha.key, body })
    expect(await entries()).toEqual([])
    change("CREATE TRIGGER full BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'full'); END")
    expect((await issue('lost')).status).toBeGreaterThanOrEqual(400)
    expect((await allKeys(harness.store, alpha.id)).map(({ name }) => name)).toEqual(['test'])
  })
})

describe('the chain', () => {
  test('starts at the root, and its hashes can be computed from the entries', async () => {
    await fill(5)
    expect(await verify()).toMatchObject({ ok: true, entries: 5, brokenAt: null })
    const oldest = (await entries()).at(-1)
    expect([oldest?.previousHash, auditHashOf(oldest!)]).toEqual([AUDIT_ROOT, oldest!.hash])
  })

  test('includes earlier entries without an address', async () => {
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
    expect(await verify()).toMatchObject({ ok: true, entries: 2 })
  })

  test('cannot be changed or deleted by the store', async () => {
    await fill(2)
    const { database } = harness.store
    await expect(database.execute("UPDATE audit_log SET actor = 'nobody'")).rejects.toThrow()
    await expect(database.execute('DELETE FROM audit_log')).rejects.toThrow()
    expect(await verify()).toMatchObject({ ok: true, entries: 2 })
  })

  test.each([
    ['an altered actor', "UPDATE audit_log SET actor = 'key:someone' WHERE sequence = 3", 3],
    ['an altered detail', "UPDATE audit_log SET detail = '{}' WHERE sequence = 2", 2],
    ['another organization', 'UPDATE audit_log SET organization_id = NULL WHERE sequence = 4', 4],
    ['an altered address', "UPDATE audit_log SET address = '10.0.0.1' WHERE sequence = 3", 3],
    ['a removed address', "UPDATE audit_log SET address = '' WHERE sequence = 3", 3],
    ['a deleted entry', 'DELETE FROM audit_log WHERE sequence = 3', 3],
    ['a deleted first entry', 'DELETE FROM audit_log WHERE sequence = 1', 1],
    ['a deleted last entry', 'DELETE FROM audit_log WHERE sequence = 5', 5],
    ['deletion of all entries', 'DELETE FROM audit_log', 1],
  ])('reveals %s', async (_, statement, brokenAt) => {
    await fill(5)
    tamper(statement)
    expect(await verify()).toMatchObject({ ok: false, brokenAt })
  })

  test('reveals an altered entry even if its hash was recomputed', async () => {
    await fill(3)
    const forged = auditHashOf({ ...(await entries())[1]!, actor: 'key:other' })
    tamper(`UPDATE audit_log SET actor = 'key:other', hash = '${forged}' WHERE sequence = 2`)
    expect(await verify()).toMatchObject({ ok: false, brokenAt: 3 })
  })

  test('contains all entries of simultaneous changes', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => issue(`key ${n}`)))
    expect(await verify()).toMatchObject({ ok: true, entries: 20 })
  })
})

describe('the list', () => {
  test('contains only the entries of the organization, filtered by a prefix of the action', async () => {
    const beta = await harness.organization('beta')
    await issue('one')
    const body = { name: 'two', kind: 'identity' }
    await harness.request('POST', '/organizations/beta/keys', { key: beta.key, body })
    expect((await read('')).data).toMatchObject([{ detail: { name: 'one' } }])
    expect((await read('action=key.issue', 'beta', beta)).data).toMatchObject([{ detail: { name: 'two' } }])
    expect((await read('action=key.', 'beta', beta)).data).toHaveLength(1)
    // The filter contains no wildcards.
    for (const action of ['key.revoke', 'ey.issue', 'key_', 'key%25', '%25']) {
      expect((await read(`action=${action}`, 'beta', beta)).data).toEqual([])
    }
  })

  test('is filtered by time, and by the id or name of the actor', async () => {
    await fill(1)
    harness.clock.advance(3_600)
    const { id, cookie } = await harness.member(alpha, 'ada')
    await harness.request('PATCH', '/organizations/alpha', { cookie, body: { name: 'A' } })
    const between = encodeURIComponent(new Date((harness.clock.unixSeconds() - 1_800) * 1_000).toISOString())
    for (const [query, action] of [
      [`since=${between}`, 'organization.change'],
      [`until=${between}`, 'key.issue'],
      ['actor=ADA@example.com', 'organization.change'],
      [`actor=user:${id}`, 'organization.change'],
    ] as const) {
      expect((await read(query)).data.map((entry) => entry.action)).toEqual([action])
    }
    expect((await read('since=today')).status).toBe(400)
  })
})

test('an export contains all filtered entries without spreadsheet formulas, and is recorded', async () => {
  await issue('=1+1')
  await fill(3)
  const download = async (query: string) =>
    (await harness.request('GET', `/organizations/alpha/audit/export?${query}`, { key: alpha.key })).text()
  const lines = (await download('format=ndjson&action=key.')).trimEnd().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { sequence: number }).sequence)).toEqual([4, 3, 2, 1])
  const rows = (await download('format=csv')).trimEnd().split('\r\n')
  expect(rows[0]).toStartWith('sequence,at,')
  // Both exports are recorded.
  expect(rows).toHaveLength(1 + 6)
  expect((await entries())[0]).toMatchObject({ action: 'audit.export', detail: { format: 'csv' } })
  expect(csvLine(['=1+1', '-2', 5, 'a "b"', null])).toBe(`'=1+1,'-2,5,"a ""b""",\r\n`)
  expect((await verify()).ok).toBe(true)
})
