// The audit log at the command line: what is listed, that a broken chain is found, and that changes made by commands are in
// it, without what was given with them.
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
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
import { openTemporaryStore, type TemporaryStore } from '../store/temporary-store.ts'
import { newFolder } from '../support/folder.ts'
import { openOver } from './admin-client-over.ts'
import { runWords } from './run-words.ts'

let temporary: TemporaryStore
let organizationId: string
let recorded: { readonly printed: { readonly stdout: string; readonly stderr: string } }
let shipFolder: string

beforeEach(async () => {
  temporary = await openTemporaryStore()
  organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
  shipFolder = newFolder()
})
afterEach(async () => {
  await temporary.remove()
})

let keptHeadProblems: readonly string[] = []
const run = async (...words: string[]): Promise<number> => {
  const { code, ...printed } = await runWords(['audit', ...words], {
    open: openOver(temporary),
    clock: temporary.clock,
    deployment: {
      findService: findServiceAmong([
        provide(LOG_TREE, { checkOf: () => expect.unreachable(), auditHeadProblems: async () => keptHeadProblems }),
        provide(LOG_COPIES, { verifyDecisions: () => expect.unreachable(), verifyAudit: verifyShippedAudit }),
      ]),
      shipTarget: (place) => createFolderTarget(place?.kind === 'folder' ? place.path : shipFolder),
    },
  })
  recorded = { printed }
  return code
}

const note = (verb: string, ...words: string[]): Promise<void> => noteCommand(temporary.store, verb, words, 'anna')

const newest = async () => {
  const [entry] = (await temporary.store.audit.page({}, { after: null, limit: 1 })).items
  if (entry === undefined) throw new Error('the audit log is empty')
  return entry
}

/** Around the database, as somebody with its file would. */
const tamper = (...statements: string[]): void => {
  const file = new Database(temporary.path)
  for (const name of ['audit_log_refuses_update', 'audit_log_refuses_delete']) file.run(`DROP TRIGGER ${name}`)
  for (const statement of statements) file.run(statement)
  file.close()
}

describe('audit verify', () => {
  test('ends with 1 where a head that was kept beside the tree is not of this log', async () => {
    keptHeadProblems = ['the audit head next to the tree: its entry 9 is missing']
    expect(await run('verify')).toBe(1)
    expect(recorded.printed.stderr).toContain('its entry 9 is missing')
    expect(await run('verify', '--json')).toBe(1)
    keptHeadProblems = []
  })

  test('ends with 1 if a signed head exists, but the module that verifies it does not run', async () => {
    const folder = newFolder()
    const verify = () =>
      runWords(['audit', 'verify'], {
        open: openOver(temporary),
        clock: temporary.clock,
        folder,
        deployment: { findService: findServiceAmong([]) },
      })
    expect((await verify()).code).toBe(0)
    writeFileSync(join(folder, 'audit.checkpoint'), 'head\n')
    expect(await verify()).toMatchObject({ code: 1, stderr: expect.stringContaining('audit.checkpoint: not compared') })
  })

  test('says how many entries there are, and the newest one’s hash', async () => {
    expect(await run('verify')).toBe(0)
    expect(recorded.printed.stdout).toStartWith('intact: 0 entries')
    await note('org', 'create', 'acme', '--name', 'Acme')
    expect(await run('verify', '--json')).toBe(0)
    const headHash = (await newest()).hash
    expect(JSON.parse(recorded.printed.stdout)).toEqual({
      ok: true,
      entries: 1,
      broken_at: null,
      head_hash: headHash,
      problems: [],
    })
  })

  test('finds an entry that was changed behind the database’s back', async () => {
    await note('org', 'create', 'one')
    await note('org', 'create', 'two')
    tamper("UPDATE audit_log SET subject = 'three' WHERE sequence = 1")
    expect(await run('verify')).toBe(1)
    expect(recorded.printed.stderr).toContain('entry 1')
  })
})

describe('the shipped audit log', () => {
  const ship = (linesPerObject = 3) => {
    const { audit, deploymentId } = temporary.store
    return shipAudit({ audit, deploymentId, linesPerObject, target: createFolderTarget(shipFolder) })
  }
  const copies = (): string[] =>
    readdirSync(join(shipFolder, 'audit-log', temporary.store.deploymentId))
      .sort()
      .map((name) => join(shipFolder, 'audit-log', temporary.store.deploymentId, name))
  const fill = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index++) await note('org', 'create', `name${index}`)
  }
  const verifyCopy = async (): Promise<{ code: number; report: AuditCopyReport }> => {
    const code = await run('verify', '--shipped', '--json')
    return { code, report: JSON.parse(recorded.printed.stdout.trim().split('\n').at(-1) ?? '') as AuditCopyReport }
  }

  test('is every entry as a line, goes on where it was, and verifies', async () => {
    expect(await ship()).toBe(0)
    await fill(2)
    expect(await ship()).toBe(2)
    await fill(5)
    expect((await verifyCopy()).report).toMatchObject({ ok: true, entries: 2, behind: 5 })
    expect(await ship()).toBe(5)
    expect(await ship()).toBe(0)
    expect(copies().map((path) => readFileSync(path, 'utf8').trim().split('\n').length)).toEqual([3, 3, 1])
    expect(await verifyCopy()).toMatchObject({ code: 0, report: { ok: true, entries: 7, behind: 0, brokenAt: null } })
  })

  test('shows that the log in the database was cut or rewritten, and is not written over', async () => {
    await fill(5)
    await ship()
    const before = copies().map((path) => readFileSync(path, 'utf8'))
    tamper('DELETE FROM audit_log WHERE sequence > 3', "UPDATE counters SET value = 3 WHERE name = 'audit'")
    // By itself the log looks whole.
    expect(await temporary.store.audit.verify()).toMatchObject({ ok: true, entries: 3 })
    await expect(ship()).rejects.toBeInstanceOf(AuditDivergedError)
    expect((await verifyCopy()).report.difference).toContain('entry 5 is missing')
    await fill(4)
    await expect(ship()).rejects.toThrow('entry 5 is different')
    expect(await verifyCopy()).toMatchObject({ code: 1, report: { ok: false, brokenAt: null } })
    expect(copies().map((path) => readFileSync(path, 'utf8'))).toEqual(before)
  })

  test('continues, and is not replaced, after others added objects', async () => {
    await fill(5)
    await ship()
    const [first = '', second = ''] = copies()
    const folder = dirname(first)
    const add = (number: number, text: string): void =>
      writeFileSync(join(folder, `${String(number).padStart(12, '0')}.ndjson`), text)
    const before = readFileSync(second, 'utf8')
    // True entries under other names: where the copy would continue, later, and between two objects.
    for (const number of [2, 10, 999_999_999_997]) add(number, readFileSync(first, 'utf8'))
    add(5, before.split('\n')[1] ?? '')
    add(13, '')
    await fill(1)
    expect(await ship()).toBe(1)
    expect(readFileSync(second, 'utf8')).toStartWith(before)
    expect(await ship()).toBe(0)
    // Consistent entries that do not continue the copy.
    const invented = { ...(JSON.parse(before.split('\n')[0] ?? '') as AuditEntry), sequence: 7 }
    const text = `${JSON.stringify({ ...invented, hash: auditHashOf(invented) })}\n`
    add(7, text)
    await expect(ship()).rejects.toThrow('000000000007.ndjson does not continue the entries before it')
    expect(readFileSync(join(folder, '000000000007.ndjson'), 'utf8')).toBe(text)
  })

  test('is not replaced after the log in the database was cut and others added an object', async () => {
    await fill(5)
    await ship()
    const [first = '', second = ''] = copies()
    const before = readFileSync(second, 'utf8')
    tamper('DELETE FROM audit_log WHERE sequence > 4', "UPDATE counters SET value = 4 WHERE name = 'audit'")
    writeFileSync(join(dirname(first), '999999999997.ndjson'), readFileSync(first, 'utf8'))
    await expect(ship()).rejects.toThrow('entry 5 is missing')
    expect(readFileSync(second, 'utf8')).toBe(before)
  })

  test('is compared to its end, even if others added objects that repeat entries before it', async () => {
    await fill(6)
    await ship(6)
    const [first = ''] = copies()
    const entries = readFileSync(first, 'utf8').split('\n')
    tamper('DELETE FROM audit_log WHERE sequence > 4', "UPDATE counters SET value = 4 WHERE name = 'audit'")
    writeFileSync(join(dirname(first), '000000000002.ndjson'), `${entries[1]}\n`)
    writeFileSync(join(dirname(first), '000000000003.ndjson'), `${entries[2]}\n${entries[3]}\n`)
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

  test('shows a line that was altered, taken out or put in, and an object that is gone', async () => {
    await fill(7)
    await ship()
    const [first = '', second = ''] = copies()
    const [one, other] = [readFileSync(first, 'utf8'), readFileSync(second, 'utf8')]
    const broken = async (path: string, text: string, at: number): Promise<void> => {
      writeFileSync(path, text)
      expect(await verifyCopy()).toMatchObject({ code: 1, report: { ok: false, brokenAt: at } })
    }
    await broken(first, one.replace('name1', 'name9'), 2)
    await broken(first, one.split('\n').slice(1).join('\n'), 1)
    await broken(first, `${one}${one.split('\n')[0]}\n`, 4)
    writeFileSync(first, one)
    rmSync(second)
    expect((await verifyCopy()).report).toMatchObject({ ok: false, brokenAt: 4 })
    writeFileSync(second, other)
    expect((await verifyCopy()).code).toBe(0)
    // Cut at its end, the copy is behind, and the next pass fills it again.
    rmSync(copies().at(-1) ?? '')
    expect((await verifyCopy()).report).toMatchObject({ entries: 6, behind: 1 })
    expect(await ship()).toBe(1)
  })
})

describe('audit list', () => {
  test('prints the newest entries first, of one organization or action when asked', async () => {
    const { admin } = await openOver(temporary)()
    await note('attester', 'rotate-passphrase')
    const params = { organization: organizationId }
    await admin.call('POST /organizations/{organization}/lists', { params, body: { name: 'mine' } })
    await admin.call('PATCH /organizations/{organization}', { params, body: { level: 'enhanced' } })
    expect(await run('list', '--json')).toBe(0)
    const { data } = JSON.parse(recorded.printed.stdout) as {
      data: { action: string; organization_id: string | null }[]
    }
    expect(data.map(({ action, organization_id: of }) => [action, of])).toEqual([
      ['organization.change', organizationId],
      ['list.create', organizationId],
      ['command.attester.rotate-passphrase', null],
    ])
    expect(await run('list', '--org', 'demo', '--action', 'organization.change')).toBe(0)
    expect(recorded.printed.stdout).toContain('anna')
    expect(recorded.printed.stdout).not.toContain('list.create')
    expect(await run('list', '--org', 'nobody')).toBe(1)
    expect(await run('list', '--limit', '0')).toBe(2)
  })
})

describe('who runs a command', () => {
  const PASSWD = 'root:x:0:0:root:/root:/bin/sh\nanna:x:1000:1000::/home/anna:/bin/sh\n:x:1002:::\n'
  const of = (uid: number | undefined, directory: string | null = null, passwd = PASSWD): string =>
    operatingUser({ uid, passwd: () => passwd, directory: () => directory })

  test('is who the system says by number: its file, its directory, or the number itself', () => {
    expect(of(1000, 'someone else')).toBe('anna')
    expect(of(1001, 'bea')).toBe('bea')
    for (const uid of [1001, 1002, 100, 10]) expect(of(uid)).toBe(`uid ${uid}`)
    expect(of(1000, null, '')).toBe('uid 1000')
    expect(of(undefined)).toBe('unknown')
  })

  test('is not what variables say', async () => {
    const service = newFolder()
    const path = join(service, 'countersign.db')
    const store = await openStore({ path, clock: systemClock })
    await store.organizations.create({ slug: 'demo', name: 'Demo' })
    await store.close()
    const environment = { COUNTERSIGN_DATA_DIR: service, USER: 'mallory', LOGNAME: 'mallory', USERNAME: 'mallory' }
    expect(await runCountersign(environment, 'org', 'create', 'acme', '--name', 'Acme')).toMatchObject({ code: 0 })
    const listed = await runCountersign(environment, 'audit', 'list', '--json')
    const [entry] = JSON.parse(listed.stdout).data as { actor: string; actor_name: string; address: string }[]
    const name = Bun.spawnSync(['id', '-un'], { env: { PATH: process.env['PATH'] } })
      .stdout.toString()
      .trim()
    expect(entry).toMatchObject({ actor: 'command-line', actor_name: name, address: '' })
  }, 30_000)
})

describe('what a command leaves', () => {
  test('is the operation’s own entry, in its transaction, with who the system says it was', async () => {
    const { admin } = await openOver(temporary, 'anna')()
    const params = { organization: organizationId }
    const issued = await admin.call('POST /organizations/{organization}/keys', {
      params,
      body: { kind: 'attestation', name: 'backend' },
    })
    const entry = await newest()
    expect(entry).toMatchObject({
      organizationId,
      actor: 'command-line',
      actorName: 'anna',
      action: 'key.issue',
      address: '',
      subject: issued.record.id,
      detail: { name: 'backend', kind: 'attestation' },
    })
    expect(JSON.stringify(entry)).not.toContain(issued.key ?? '?')
    // What is rolled back leaves none.
    const failing = admin.together(async (inner) => {
      await inner.call('POST /organizations/{organization}/keys/{key}/revoke', {
        params: { ...params, key: issued.record.id },
        body: {},
      })
      throw new Error('stop')
    })
    await expect(failing).rejects.toThrow('stop')
    expect((await newest()).action).toBe('key.issue')
    expect((await temporary.store.apiKeys.find(organizationId, issued.record.id))?.revokedAtSeconds).toBeNull()
  })

  test('is of the deployment for a backup, with the options it had and not where it went', async () => {
    await note('backup', '--to', '/mnt/away', '--with-secrets')
    expect(await newest()).toMatchObject({
      organizationId: null,
      action: 'command.backup',
      subject: '',
      detail: { words: [], options: ['to', 'with-secrets'] },
    })
  })

  test('is nothing for what changes nothing or has an entry of its own', () => {
    expect(isNoted('attester', ['rotate-passphrase'])).toBe(true)
    expect(isNoted('evidence', ['--json', 'rotate-key'])).toBe(true)
    for (const words of [['list'], ['rotate-passphrase', '--help'], [], ['constructor']])
      expect(isNoted('attester', words)).toBe(false)
    // Operations have entries of their own.
    expect(isNoted('keys', ['revoke', 'abc'])).toBe(false)
    expect(isNoted('doctor', ['create'])).toBe(false)
    expect(isNoted('constructor', ['create'])).toBe(false)
  })
})
