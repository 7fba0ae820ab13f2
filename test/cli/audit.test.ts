// The audit log at the command line: what is listed, that a broken chain is found, and that changes made by commands are in
// it, without what was given with them.
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { runAudit } from '../../src/cli/audit.ts'
import { isNoted, noteCommand } from '../../src/cli/command-note.ts'
import { openTemporaryStore, type TemporaryStore } from '../store/temporary-store.ts'

let temporary: TemporaryStore
let organizationId: string
let stdout = ''
let stderr = ''

beforeEach(async () => {
  temporary = await openTemporaryStore()
  organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
  stdout = ''
  stderr = ''
})
afterEach(() => temporary.remove())

const run = (...words: string[]): Promise<number> =>
  runAudit(words, {
    output: {
      stdout: (text) => {
        stdout += text
      },
      stderr: (text) => {
        stderr += text
      },
    },
    openStore: async () => ({ ...temporary.store, close: async () => undefined }),
  })

const note = (verb: string, ...words: string[]): Promise<void> => noteCommand(temporary.store, verb, words, 'anna')

const newest = async () => {
  const [entry] = (await temporary.store.audit.page({}, { after: null, limit: 1 })).items
  if (entry === undefined) throw new Error('the audit log is empty')
  return entry
}

describe('audit verify', () => {
  test('says how many entries there are, and the newest one’s hash', async () => {
    expect(await run('verify')).toBe(0)
    expect(stdout).toStartWith('whole: 0 entries')
    await note('org', 'create', 'acme', '--name', 'Acme')
    stdout = ''
    expect(await run('verify', '--json')).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ ok: true, entries: 1, brokenAt: null, headHash: (await newest()).hash })
  })

  test('finds an entry that was changed behind the database’s back', async () => {
    await note('org', 'create', 'one')
    await note('org', 'create', 'two')
    const file = new Database(temporary.path)
    for (const { name } of file
      .query("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit_log'")
      .all() as { name: string }[]) {
      file.run(`DROP TRIGGER ${name}`)
    }
    file.run("UPDATE audit_log SET subject = 'three' WHERE sequence = 1")
    file.close()
    expect(await run('verify')).toBe(1)
    expect(stderr).toContain('entry 1')
  })
})

describe('audit list', () => {
  test('prints the newest entries last, of one organization or action when asked', async () => {
    await note('attester', 'add', '--kind', 'secp256k1')
    await note('project', 'create', '--name', 'Shop')
    await note('org', 'level', 'demo', 'enhanced')
    expect(await run('list', '--json')).toBe(0)
    const entries = JSON.parse(stdout) as { action: string; organizationId: string | null }[]
    expect(entries.map(({ action, organizationId: of }) => [action, of])).toEqual([
      ['command.attester.add', null],
      ['command.project.create', organizationId],
      ['command.org.level', organizationId],
    ])
    stdout = ''
    expect(await run('list', '--org', 'demo', '--action', 'command.org.level')).toBe(0)
    expect(stdout).toContain('anna')
    expect(stdout).not.toContain('project.create')
    expect(await run('list', '--org', 'nobody')).toBe(1)
    expect(await run('list', '--limit', '0')).toBe(2)
  })
})

describe('what a command leaves', () => {
  test('is who, what and of what, and of the options their names alone', async () => {
    await note('webhook', 'add', '--url=https://hooks.example/?key=secret', '--org', 'demo')
    const entry = await newest()
    expect(entry).toMatchObject({
      ...{ organizationId, actor: 'command-line', actorName: 'anna', action: 'command.webhook.add', subject: '' },
      detail: { words: [], options: ['url', 'org'] },
    })
    expect(JSON.stringify(entry)).not.toContain('secret')
  })

  test('is in the organization of the key that it was about', async () => {
    const other = await temporary.store.organizations.create({ slug: 'other', name: 'Other' })
    const { record } = await temporary.store.apiKeys.issue({
      ...{ organizationId: other.id, kind: 'attestation', environment: 'live', name: 'x' },
      ...{ expiresAtSeconds: null, rateLimit: null },
    })
    await note('keys', 'revoke', record.keyId)
    expect(await newest()).toMatchObject({ organizationId: other.id, subject: record.keyId })
  })

  test('is of the deployment for a backup, with the options it had and not where it went', async () => {
    await note('backup', '--to', '/mnt/away', '--with-secrets')
    expect(await newest()).toMatchObject({
      ...{ organizationId: null, action: 'command.backup', subject: '' },
      detail: { words: [], options: ['to', 'with-secrets'] },
    })
  })

  test('is nothing for what changes nothing', () => {
    expect(isNoted('keys', ['revoke', 'abc'])).toBe(true)
    expect(isNoted('keys', ['--org', 'demo', 'revoke', 'abc'])).toBe(true)
    for (const words of [['list'], ['revoke', '--help'], [], ['constructor']])
      expect(isNoted('keys', words)).toBe(false)
    expect(isNoted('evidence', ['retention', '--org', 'demo'])).toBe(false)
    expect(isNoted('evidence', ['retention', '--completed=30'])).toBe(true)
    expect(isNoted('doctor', ['create'])).toBe(false)
    expect(isNoted('constructor', ['create'])).toBe(false)
  })
})
