// The audit log at the command line: listing, verification (including of the shipped copy), and the entries that commands make.
import { Database } from 'bun:sqlite'
import { beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { operatingUser } from '../../src/cli/operating-user.ts'
import { isNoted, noteCommand } from '../../src/command-line/command-note.ts'
import { type AuditCopyReport, LOG_COPIES, LOG_TREE } from '../../src/command-line/log-services.ts'
import { findServiceAmong, provide } from '../../src/lib/service-key.ts'
import { systemClock } from '../../src/lib/time.ts'
import { AuditDivergedError, shipAudit, verifyShippedAudit } from '../../src/modules/log-shipping/service/audit-ship.ts'
import { createFolderTarget } from '../../src/object-store/ship-folder.ts'
import { type AuditEntry, auditHashOf } from '../../src/store/audit.ts'
import { openStore } from '../../src/store/store.ts'
import { runCountersign } from '../service/run-to-end.ts'
import { storeOfTest } from '../store/store-of-test.ts'
import { openTemporaryStore } from '../store/temporary-store.ts'
import { newFolder } from '../support/folder.ts'
import { openOver } from './admin-client-over.ts'
import { runWords } from './run-words.ts'

const temporary = storeOfTest(openTemporaryStore)
let params: { readonly organization: string }
let shipFolder: string
let headProblems: readonly string[]

beforeEach(async () => {
  params = { organization: (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id }
  shipFolder = newFolder()
  headProblems = []
})

const run = (...words: string[]) =>
  runWords(['audit', ...words], {
    open: openOver(temporary),
    clock: temporary.clock,
    deployment: {
      findService: findServiceAmong([
        provide(LOG_TREE, { checkOf: () => expect.unreachable(), auditHeadProblems: async () => headProblems }),
        provide(LOG_COPIES, { verifyDecisions: () => expect.unreachable(), verifyAudit: verifyShippedAudit }),
      ]),
      shipTarget: (place) => createFolderTarget(place?.kind === 'folder' ? place.path : shipFolder),
    },
  })

const note = (verb: string, ...words: string[]): Promise<void> => noteCommand(temporary.store, verb, words, 'anna')

const newest = async () => {
  const [entry] = (await temporary.store.audit.page({}, { after: null, limit: 1 })).items
  if (entry === undefined) throw new Error('the audit log is empty')
  return entry
}

/** Changes the database file without its triggers. */
const tamper = (...statements: string[]): void => {
  const file = new Database(temporary.path)
  for (const name of ['audit_log_refuses_update', 'audit_log_refuses_delete']) file.run(`DROP TRIGGER ${name}`)
  for (const statement of statements) file.run(statement)
  file.close()
}

describe('audit verify', () => {
  test('exits with 1 if the head stored next to the tree belongs to another log', async () => {
    headProblems = ['the audit head next to the tree: its entry 9 is missing']
    expect(await run('verify')).toMatchObject({ code: 1, stderr: expect.stringContaining('its entry 9 is missing') })
    expect((await run('verify', '--json')).code).toBe(1)
  })

  test('exits with 1 if a signed head exists, but the module that verifies it is disabled', async () => {
    const folder = newFolder()
    const deployment = { findService: findServiceAmong([]) }
    const verify = () =>
      runWords(['audit', 'verify'], { open: openOver(temporary), clock: temporary.clock, folder, deployment })
    expect((await verify()).code).toBe(0)
    writeFileSync(join(folder, 'audit.checkpoint'), 'head\n')
    expect(await verify()).toMatchObject({ code: 1, stderr: expect.stringContaining('audit.checkpoint: not compared') })
  })

  test('prints the number of entries and the newest hash', async () => {
    expect(await run('verify')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^intact: 0 entries/) })
    await note('org', 'create', 'acme', '--name', 'Acme')
    const { code, stdout } = await run('verify', '--json')
    const head_hash = (await newest()).hash
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ ok: true, entries: 1, broken_at: null, head_hash, problems: [] })
  })

  test('finds an entry that was changed in the database file', async () => {
    for (const name of ['one', 'two']) await note('org', 'create', name)
    tamper("UPDATE audit_log SET subject = 'three' WHERE sequence = 1")
    expect(await run('verify')).toMatchObject({ code: 1, stderr: expect.stringContaining('entry 1') })
  })
})

describe('the shipped audit log', () => {
  const ship = (linesPerObject = 3) => {
    const { audit, deploymentId } = temporary.store
    return shipAudit({ audit, deploymentId, linesPerObject, target: createFolderTarget(shipFolder) })
  }
  const folder = (): string => join(shipFolder, 'audit-log', temporary.store.deploymentId)
  const copies = (): string[] =>
    readdirSync(folder())
      .sort()
      .map((name) => join(folder(), name))
  const fill = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index++) await note('org', 'create', `name${index}`)
  }
  const cutAfter = (last: number): void =>
    tamper(`DELETE FROM audit_log WHERE sequence > ${last}`, `UPDATE counters SET value = ${last} WHERE name = 'audit'`)
  const verifyCopy = async (): Promise<{ code: number; report: AuditCopyReport }> => {
    const { code, stdout } = await run('verify', '--shipped', '--json')
    return { code, report: JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as AuditCopyReport }
  }

  test('contains one line per entry, continues after the last shipped entry, and can be verified', async () => {
    expect(await ship()).toBe(0)
    await fill(2)
    expect(await ship()).toBe(2)
    await fill(5)
    expect((await verifyCopy()).report).toMatchObject({ ok: true, entries: 2, behind: 5 })
    expect([await ship(), await ship()]).toEqual([5, 0])
    expect(copies().map((path) => readFileSync(path, 'utf8').trim().split('\n').length)).toEqual([3, 3, 1])
    expect(await verifyCopy()).toMatchObject({ code: 0, report: { ok: true, entries: 7, behind: 0, brokenAt: null } })
  })

  test('reveals that the log in the database was truncated or rewritten, and is not overwritten', async () => {
    await fill(5)
    await ship()
    const before = copies().map((path) => readFileSync(path, 'utf8'))
    cutAfter(3)
    // The hash chain alone is intact.
    expect(await temporary.store.audit.verify()).toMatchObject({ ok: true, entries: 3 })
    await expect(ship()).rejects.toBeInstanceOf(AuditDivergedError)
    expect((await verifyCopy()).report.difference).toContain('entry 5 is missing')
    await fill(4)
    await expect(ship()).rejects.toThrow('entry 5 is different')
    expect(await verifyCopy()).toMatchObject({ code: 1, report: { ok: false, brokenAt: null } })
    expect(copies().map((path) => readFileSync(path, 'utf8'))).toEqual(before)
  })

  test('continues, and is not replaced, after other writers added objects', async () => {
    await fill(5)
    await ship()
    const [first = '', second = ''] = copies()
    const pathOf = (number: number): string => join(folder(), `${String(number).padStart(12, '0')}.ndjson`)
    const before = readFileSync(second, 'utf8')
    // Genuine entries under other names: where the copy would continue, later, and between two objects.
    for (const number of [2, 10, 999_999_999_997]) writeFileSync(pathOf(number), readFileSync(first, 'utf8'))
    writeFileSync(pathOf(5), before.split('\n')[1] ?? '')
    writeFileSync(pathOf(13), '')
    await fill(1)
    expect(await ship()).toBe(1)
    expect(readFileSync(second, 'utf8')).toStartWith(before)
    expect(await ship()).toBe(0)
    // Consistent entries that do not continue the copy.
    const invented = { ...(JSON.parse(before.split('\n')[0] ?? '') as AuditEntry), sequence: 7 }
    const text = `${JSON.stringify({ ...invented, hash: auditHashOf(invented) })}\n`
    writeFileSync(pathOf(7), text)
    await expect(ship()).rejects.toThrow('000000000007.ndjson does not continue the entries before it')
    expect(readFileSync(pathOf(7), 'utf8')).toBe(text)
  })

  test('is not replaced after the log in the database was truncated and another writer added an object', async () => {
    await fill(5)
    await ship()
    const [first = '', second = ''] = copies()
    const before = readFileSync(second, 'utf8')
    cutAfter(4)
    writeFileSync(join(folder(), '999999999997.ndjson'), readFileSync(first, 'utf8'))
    await expect(ship()).rejects.toThrow('entry 5 is missing')
    expect(readFileSync(second, 'utf8')).toBe(before)
  })

  test('is compared to its end, even if other writers added objects that repeat earlier entries', async () => {
    await fill(6)
    await ship(6)
    const entries = readFileSync(copies()[0] ?? '', 'utf8').split('\n')
    cutAfter(4)
    writeFileSync(join(folder(), '000000000002.ndjson'), `${entries[1]}\n`)
    writeFileSync(join(folder(), '000000000003.ndjson'), `${entries[2]}\n${entries[3]}\n`)
    await expect(ship(6)).rejects.toThrow('entry 6 is missing')
  })

  test('is completed after an object was removed', async () => {
    await fill(8)
    await ship()
    const [, second = '', third = ''] = copies()
    const [removed, last] = [readFileSync(second, 'utf8'), readFileSync(third, 'utf8')]
    rmSync(second)
    await fill(1)
    expect(await ship()).toBe(4)
    expect([readFileSync(second, 'utf8'), readFileSync(third, 'utf8').startsWith(last)]).toEqual([removed, true])
  })

  test('reveals an altered, removed or inserted line, and a missing object', async () => {
    await fill(7)
    await ship()
    const [first = '', second = '', third = ''] = copies()
    const [one, other] = [readFileSync(first, 'utf8'), readFileSync(second, 'utf8')]
    for (const [text, brokenAt] of [
      [one.replace('name1', 'name9'), 2],
      [one.split('\n').slice(1).join('\n'), 1],
      [`${one}${one.split('\n')[0]}\n`, 4],
    ] as const) {
      writeFileSync(first, text)
      expect(await verifyCopy()).toMatchObject({ code: 1, report: { ok: false, brokenAt } })
    }
    writeFileSync(first, one)
    rmSync(second)
    expect((await verifyCopy()).report).toMatchObject({ ok: false, brokenAt: 4 })
    writeFileSync(second, other)
    expect((await verifyCopy()).code).toBe(0)
    // A copy without its last object is behind. The next run completes it.
    rmSync(third)
    expect((await verifyCopy()).report).toMatchObject({ entries: 6, behind: 1 })
    expect(await ship()).toBe(1)
  })
})

test('audit list prints the newest entries first, and filters them by organization and action', async () => {
  const { admin } = await openOver(temporary)()
  await note('attester', 'rotate-passphrase')
  await admin.call('POST /organizations/{organization}/lists', { params, body: { name: 'mine' } })
  await admin.call('PATCH /organizations/{organization}', { params, body: { level: 'enhanced' } })
  const listed = await run('list', '--json')
  expect(listed.code).toBe(0)
  const { data } = JSON.parse(listed.stdout) as { data: { action: string; organization_id: string | null }[] }
  expect(data.map(({ action, organization_id: of }) => [action, of])).toEqual([
    ['organization.change', params.organization],
    ['list.create', params.organization],
    ['command.attester.rotate-passphrase', null],
  ])
  const filtered = await run('list', '--org', 'demo', '--action', 'organization.change')
  expect([filtered.code, filtered.stdout]).toEqual([0, expect.stringContaining('anna')])
  expect(filtered.stdout).not.toContain('list.create')
  expect((await run('list', '--org', 'nobody')).code).toBe(1)
  expect((await run('list', '--limit', '0')).code).toBe(2)
})

describe('the user that runs a command', () => {
  const PASSWD = 'root:x:0:0:root:/root:/bin/sh\nanna:x:1000:1000::/home/anna:/bin/sh\n:x:1002:::\n'

  test.each<[number | undefined, string | null, string, string]>([
    [1000, 'someone else', 'anna', PASSWD],
    [1001, 'bea', 'bea', PASSWD],
    [1001, null, 'uid 1001', PASSWD],
    [1002, null, 'uid 1002', PASSWD],
    [100, null, 'uid 100', PASSWD],
    [10, null, 'uid 10', PASSWD],
    [1000, null, 'uid 1000', ''],
    [undefined, null, 'unknown', PASSWD],
  ])('with the number %p and the directory entry %p is %s', (uid, entry, user, passwd) => {
    expect(operatingUser({ uid, passwd: () => passwd, directory: () => entry })).toBe(user)
  })

  test('does not depend on environment variables', async () => {
    const folder = newFolder()
    await (await openStore({ path: join(folder, 'countersign.db'), clock: systemClock })).close()
    const environment = { COUNTERSIGN_DATA_DIR: folder, USER: 'mallory', LOGNAME: 'mallory', USERNAME: 'mallory' }
    expect(await runCountersign(environment, 'org', 'create', 'acme', '--name', 'Acme')).toMatchObject({ code: 0 })
    const listed = await runCountersign(environment, 'audit', 'list', '--json')
    const { stdout } = Bun.spawnSync(['id', '-un'], { env: { PATH: process.env['PATH'] } })
    const user = { actor: 'command-line', actor_name: stdout.toString().trim(), address: '' }
    expect(JSON.parse(listed.stdout).data[0]).toMatchObject(user)
  }, 30_000)
})

describe('the entry of a command', () => {
  test('is made by its operation, in the same transaction, with the name of the system user', async () => {
    const { admin } = await openOver(temporary, 'anna')()
    const body = { kind: 'attestation', name: 'backend' } as const
    const { key, record } = await admin.call('POST /organizations/{organization}/keys', { params, body })
    const entry = await newest()
    expect(entry).toMatchObject({
      organizationId: params.organization,
      actor: 'command-line',
      actorName: 'anna',
      action: 'key.issue',
      address: '',
      subject: record.id,
      detail: body,
    })
    expect(JSON.stringify(entry)).not.toContain(key ?? '?')
    const failing = admin.together(async (inner) => {
      await inner.call('POST /organizations/{organization}/keys/{key}/revoke', {
        params: { ...params, key: record.id },
        body: {},
      })
      throw new Error('stop')
    })
    await expect(failing).rejects.toThrow('stop')
    expect((await newest()).action).toBe('key.issue')
    expect((await temporary.store.apiKeys.find(params.organization, record.id))?.revokedAtSeconds).toBeNull()
  })

  test('belongs to the deployment for a backup, and contains the options without the destination', async () => {
    await note('backup', '--to', '/mnt/away', '--with-secrets')
    expect(await newest()).toMatchObject({
      organizationId: null,
      action: 'command.backup',
      subject: '',
      detail: { words: [], options: ['to', 'with-secrets'] },
    })
  })

  test.each([
    ['attester', ['rotate-passphrase'], true],
    ['evidence', ['--json', 'rotate-key'], true],
    ['attester', ['list'], false],
    ['attester', ['rotate-passphrase', '--help'], false],
    ['attester', [], false],
    ['attester', ['constructor'], false],
    // The operation makes the entry.
    ['keys', ['revoke', 'abc'], false],
    ['doctor', ['create'], false],
    ['constructor', ['create'], false],
  ])('of %s %j is made by the command line: %p', (noun, words, expected) => {
    expect(isNoted(noun, words)).toBe(expected)
  })
})
