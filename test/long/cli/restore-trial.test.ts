// `countersign restore --try`: it starts a service from a backup without effects on other systems, leaves no files, and detects
// unusable backups.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BackupManifest } from '../../../src/modules/backups/commands/backup-manifest.ts'
import { attestUnder } from '../../cli/acknowledged.ts'
import { runCountersign } from '../../service/run-to-end.ts'
import { type RunningService, runCommand, startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { until } from '../../support/until.ts'

const LIMIT_MS = 120_000
setDefaultTimeout(LIMIT_MS)

let folder: string
let service: RunningService
let backup: string
let source: ReturnType<typeof Bun.serve>
let fetched = 0

/** Copies the backup, changes it, and updates its manifest. */
const changed = (name: string, change: (copy: string) => void): string => {
  const copy = join(folder, name)
  cpSync(backup, copy, { recursive: true })
  change(copy)
  const path = join(copy, 'manifest.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as BackupManifest
  const files = manifest.files.map(({ path: file }) => {
    const content = readFileSync(join(copy, file))
    return { path: file, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') }
  })
  writeFileSync(path, JSON.stringify({ ...manifest, files }))
  return copy
}

const edit = (copy: string, ...statements: readonly string[]): void => {
  const file = new Database(join(copy, 'countersign.db'))
  for (const statement of statements) file.run(statement)
  file.close()
}

const attempt = async (from: string, dataDirectory = join(folder, 'nowhere'), settings = {}) => {
  const scratch = mkdtempSync(join(folder, 'scratch-'))
  const environment = { COUNTERSIGN_DATA_DIR: dataDirectory, TMPDIR: scratch, ...settings }
  const { code, stdout, stderr } = await runCountersign(environment, 'restore', '--from', from, '--try', '--json')
  // A message if the evidence key of the deployment is not available.
  expect(stderr).toMatch(/^(Not authenticated: .*\n[0-9a-f]{64}\n)?$/)
  expect(readdirSync(scratch)).toEqual([])
  const { ok, findings } = JSON.parse(stdout) as {
    ok: boolean
    findings: { check: string; result: string; detail: string }[]
  }
  expect(code).toBe(ok ? 0 : 1)
  return {
    ok,
    results: Object.fromEntries(findings.map(({ check, result }) => [check, result])),
    detail: (check: string) => findings.find((finding) => finding.check === check)?.detail,
  }
}

beforeAll(async () => {
  folder = newFolder()
  source = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => {
      fetched += 1
      return new Response(`0x${'33'.repeat(20)}\n`)
    },
  })
  service = await startService()
  const { attestation } = await attestUnder(service, 'one')
  const command = (...words: string[]) => runCommand(service.dataDirectory, ...words)
  // Only the tree detects a change of the newest line, which it contains after a second or two.
  await until(async () => (await command('decisions', 'prove', attestation.uuid)).code === 0)
  expect((await command('lists', 'create', 'sanctions', '--shared')).code).toBe(0)
  const place = ['--from', `${source.url}list.txt`, '--reach', 'loopback'] as const
  expect((await command('list-source', 'update', 'sanctions', '--shared', ...place)).code).toBe(0)
  const whole = join(folder, 'whole')
  expect((await command('backup', '--to', whole, '--with-secrets', '--with-decisions')).code).toBe(0)
  backup = whole
  // Both lists are due, and the service of the trial becomes the leader immediately.
  backup = changed('due', (copy) =>
    edit(
      copy,
      'UPDATE list_sources SET due_at_seconds = 0',
      `INSERT INTO screening_lists (name, format, urls, reach, interval_seconds, due_at_seconds, leased_until_seconds, token,
         validators) VALUES ('people', 'csv', '["${source.url}people.csv"]', 'loopback', 600, 0, 0, 'token', '{}')`,
      'DELETE FROM leader_leases',
    ),
  )
}, LIMIT_MS)
afterAll(async () => {
  await Promise.all([service?.stop(), source?.stop(true)])
})

test('a valid backup passes without outbound requests or remaining files', async () => {
  const before = fetched
  const { ok, results, detail } = await attempt(backup)
  expect({ ok, results }).toEqual({
    ok: true,
    results: { files: 'ok', decisions: 'ok', start: 'ok', database: 'ok', 'last decision': 'ok', verdict: 'ok' },
  })
  expect(detail('verdict')).toContain(service.quickstart['EVM_ATTESTER'] ?? '-')
  expect(fetched).toBe(before)
})

test('a backup without secrets requires the secrets of the deployment, even after a rotation', async () => {
  const plain = join(folder, 'plain')
  expect((await runCommand(service.dataDirectory, 'backup', '--to', plain)).code).toBe(0)
  const { ok, results } = await attempt(plain, service.dataDirectory)
  expect({ ok, results }).toMatchObject({ ok: true, results: { decisions: 'left out', start: 'ok', verdict: 'ok' } })
  const locked = await attempt(plain)
  expect(locked.ok).toBe(false)
  expect(locked.detail('start')).toContain(
    `the passphrase file is missing: ${join(folder, 'nowhere', 'secrets', 'passphrase')}`,
  )
  expect((await runCommand(service.dataDirectory, 'attester', 'rotate-passphrase')).code).toBe(0)
  const outdated = await attempt(plain, service.dataDirectory)
  expect(outdated.detail('start')).toMatch(/the passphrase is wrong.*rotated after the backup.*_PASSPHRASE_FILE/)
  const previous = join(service.dataDirectory, 'secrets', 'passphrase.previous-1')
  const opened = await attempt(plain, service.dataDirectory, { COUNTERSIGN_PASSPHRASE_FILE: previous })
  expect(opened.ok).toBe(true)
})

test('changed decisions and damaged keystores are detected', async () => {
  const rewritten = changed('rewritten', (copy) => {
    // Any worker may have made the decision.
    for (const slot of readdirSync(join(copy, 'decisions')).filter((name) => /^w\d+$/.test(name))) {
      for (const name of readdirSync(join(copy, 'decisions', slot))) {
        const path = join(copy, 'decisions', slot, name)
        writeFileSync(path, readFileSync(path, 'utf8').replace('"chain":"sepolia"', '"chain":"bsc"'))
      }
    }
  })
  const log = await attempt(rewritten)
  expect(log.results['decisions']).toBe('problem')
  const broken = changed('broken', (copy) => {
    for (const name of readdirSync(join(copy, 'keystores'))) {
      const path = join(copy, 'keystores', name)
      if (name.endsWith('.json'))
        writeFileSync(path, readFileSync(path, 'utf8').replace(/"ciphertext": ?"../, '"ciphertext":"00'))
    }
  })
  const keys = await attempt(broken)
  expect([keys.ok, keys.results['start']]).toEqual([false, 'problem'])
})

test('cannot be combined with --check, and requires a backup', async () => {
  const nowhere = join(folder, 'nowhere')
  const both = await runCommand(nowhere, 'restore', '--from', backup, '--check', '--try')
  expect([both.code, both.stderr.split('\n')[0]]).toEqual([2, 'use --check or --try, not both'])
  mkdirSync(join(folder, 'empty'))
  const none = await runCommand(nowhere, 'restore', '--from', join(folder, 'empty'), '--try')
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('no backup found in')])
})
