// `countersign backup --into`: the command itself, and, with a manual clock, the scheduling and deletion of backups.
import { afterEach, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { CommandFailedError } from '../../src/command-line/output.ts'
import { authenticate, type EvidenceKeys } from '../../src/modules/backups/commands/backup-authentication.ts'
import { BACKUP_FORMAT, type BackupManifest, MANIFEST } from '../../src/modules/backups/commands/backup-manifest.ts'
import { createBackupFolder } from '../../src/modules/backups/commands/backup-place.ts'
import { runSeries } from '../../src/modules/backups/commands/backup-series.ts'
import { cleanEnvironment } from '../service/run-to-end.ts'
import { runCommand, startService } from '../service/start-service.ts'
import { until } from '../support/until.ts'
import { temporaryDirectory as newFolder, removeTemporaryDirectories } from '../workers/support/attesters.ts'

afterEach(removeTemporaryDirectories)

const START = Date.parse('2026-11-23T04:30:00.000Z')
const HOUR = 3_600_000

const writeBackup = (to: string, deploymentId = 'ours', keys: EvidenceKeys = []): BackupManifest => {
  const unsigned: BackupManifest = {
    format: BACKUP_FORMAT,
    version: '1.2.3',
    createdAt: basename(to),
    deploymentId,
    schema: 1,
    store: 'sqlite',
    withSecrets: false,
    withDecisions: false,
    files: [],
  }
  const manifest = authenticate(unsigned, keys)
  mkdirSync(to, { recursive: true })
  writeFileSync(join(to, MANIFEST), JSON.stringify(manifest))
  return manifest
}

/** Runs a series until `endMs` after the start; time passes only while it sleeps. */
const runFor = async (
  endMs: number,
  options: {
    folder: string
    everyMs: number
    keep?: number
    keys?: EvidenceKeys
    fails?: (nowMs: number) => boolean
  },
) => {
  const { folder, everyMs, keep = null, keys = [], fails = () => false } = options
  const controller = new AbortController()
  let nowMs = START
  const made: string[] = []
  let stderr = ''
  const make = async (to: string): Promise<BackupManifest> => {
    // The duration of a backup.
    nowMs += 60_000
    if (fails(nowMs)) throw new CommandFailedError('the disk is full')
    made.push(basename(to))
    return writeBackup(to, 'ours', keys)
  }
  const code = await runSeries({
    place: createBackupFolder(folder, make, async () => keys),
    everyMs,
    keep,
    output: { stdout: () => undefined, stderr: (text) => (stderr += text) },
    now: () => new Date(nowMs),
    sleep: async (milliseconds) => {
      expect(milliseconds > 0 && milliseconds <= HOUR).toBe(true)
      nowMs += milliseconds
      if (nowMs >= START + endMs) controller.abort()
    },
    signal: controller.signal,
    report: async () => undefined,
  })
  return { code, made, stderr }
}

describe('a series', () => {
  test('creates a backup immediately, and then one per interval regardless of its duration', async () => {
    const folder = join(newFolder(), 'new')
    const { code, made } = await runFor(24 * HOUR, { folder, everyMs: 6 * HOUR })
    expect(code).toBe(0)
    expect(made).toEqual(['04', '10', '16', '22'].map((hour) => `2026-11-23T${hour}-30-00Z`))
    expect(readdirSync(folder).sort()).toEqual(made)
  })

  test('keeps the schedule of the newest complete backup after a restart', async () => {
    const folder = newFolder()
    writeBackup(join(folder, '2026-11-23T01-00-00Z'))
    // Incomplete backups, other folders and times in the future do not count.
    mkdirSync(join(folder, '2026-11-23T04-00-00Z'))
    mkdirSync(join(folder, 'notes'))
    const { made } = await runFor(6 * HOUR, { folder, everyMs: 6 * HOUR })
    expect(made).toEqual(['2026-11-23T07-00-00Z'])
    writeBackup(join(folder, '2031-01-01T00-00-00Z'))
    expect((await runFor(HOUR, { folder, everyMs: 6 * HOUR })).made).toEqual(['2026-11-23T04-30-00Z'])
  })

  test('deletes only the oldest backups of its deployment', async () => {
    const folder = newFolder()
    writeBackup(join(folder, '2026-11-01T00-00-00Z'))
    writeBackup(join(folder, '2026-11-02T00-00-00Z'), 'theirs')
    mkdirSync(join(folder, '2026-11-03T00-00-00Z'))
    writeFileSync(join(folder, 'README'), 'mine')
    const { made, stderr } = await runFor(20 * HOUR, { folder, everyMs: 6 * HOUR, keep: 2 })
    expect(made).toHaveLength(4)
    const others = ['2026-11-02T00-00-00Z', '2026-11-03T00-00-00Z']
    expect(readdirSync(folder).sort()).toEqual([...others, ...made.slice(-2), 'README'])
    expect(stderr).toContain('2026-11-01T00-00-00Z: deleted')
  })

  test('counts and deletes only backups that the evidence key authenticates', async () => {
    const folder = newFolder()
    const keys = [new Uint8Array(32).fill(1)]
    const added = ['2026-11-23T04-29-57Z', '2026-11-23T04-29-58Z', '2026-11-23T04-29-59Z']
    writeBackup(join(folder, '2026-11-22T00-00-00Z'), 'ours', keys)
    for (const name of added) writeBackup(join(folder, name))
    const { made, stderr } = await runFor(HOUR, { folder, everyMs: 6 * HOUR, keep: 3, keys })
    expect(made).toHaveLength(1)
    expect(readdirSync(folder).sort()).toEqual(['2026-11-22T00-00-00Z', ...added, ...made])
    expect(stderr).toContain(`${added[0]}: not counted for --keep, because the evidence key does not authenticate it`)
  })

  test('does not count a copy of a manifest under a later name', async () => {
    const folder = newFolder()
    const keys = [new Uint8Array(32).fill(1)]
    const real = ['2026-11-20T00-00-00Z', '2026-11-21T00-00-00Z']
    for (const name of real) writeBackup(join(folder, name), 'ours', keys)
    const copies = ['2026-11-23T04-29-58Z', '2026-11-23T04-29-59Z']
    for (const name of copies) cpSync(join(folder, real[0] ?? ''), join(folder, name), { recursive: true })
    const { made, stderr } = await runFor(HOUR, { folder, everyMs: 6 * HOUR, keep: 3, keys })
    expect(made).toHaveLength(1)
    expect(readdirSync(folder).sort()).toEqual([...real, ...copies, ...made])
    const reason = 'its manifest is a copy of an earlier manifest'
    expect(stderr).toContain(`${copies[0]}: not counted for --keep, because ${reason}`)
  })

  test('does not delete its own backup, and does not count names in the future', async () => {
    const folder = newFolder()
    const future = '2031-01-01T00-00-00Z'
    // Includes a backup of another command at the same time.
    for (const name of ['2026-11-22T00-00-00Z', '2026-11-23T04-30-30Z', future]) writeBackup(join(folder, name))
    const { made, stderr } = await runFor(HOUR, { folder, everyMs: 6 * HOUR, keep: 1 })
    expect(made).toEqual(['2026-11-23T04-30-00Z'])
    expect(readdirSync(folder).sort()).toEqual([...made, '2026-11-23T04-30-30Z', future])
    expect(stderr).toContain(`${future}: not counted for --keep, because its time is in the future\n`)
  })

  test('deletes nothing while backups fail, reports the reason, and retries within 15 minutes', async () => {
    const folder = newFolder()
    for (const day of ['20', '21']) writeBackup(join(folder, `2026-11-${day}T00-00-00Z`))
    const half = HOUR / 2
    const failing = { folder, everyMs: 6 * HOUR, keep: 1, fails: (nowMs: number) => nowMs < START + half }
    const { made, stderr } = await runFor(HOUR, failing)
    expect(stderr.match(/backup failed: the disk is full; will retry within 15 minutes\n/g)).toHaveLength(2)
    expect(made).toEqual(['2026-11-23T05-02-00Z'])
    expect(readdirSync(folder)).toEqual(made)
  })

  test('deletes incomplete backups of killed commands after a day', async () => {
    const folder = newFolder()
    const [old, recent] = ['.2026-11-21T00-00-00Z.0123456789ab.partial', '.2026-11-23T04-00-00Z.0123456789ab.partial']
    for (const name of [old, recent, '.other']) mkdirSync(join(folder, name))
    await runFor(HOUR, { folder, everyMs: 6 * HOUR })
    expect(readdirSync(folder).sort()).toEqual([recent, '.other', '2026-11-23T04-30-00Z'])
  })
})

test('the command creates restorable backups of a running service until it is stopped', async () => {
  const service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  try {
    const into = join(newFolder(), 'backups')
    const child = Bun.spawn(['bun', 'src/cli/countersign.ts', 'backup', '--into', into, '--every', '1h', '--json'], {
      env: { ...cleanEnvironment(), COUNTERSIGN_DATA_DIR: service.dataDirectory },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    await until(() => existsSync(into) && readdirSync(into).some((name) => !name.startsWith('.')))
    child.kill('SIGTERM')
    const [code, printed] = await Promise.all([child.exited, new Response(child.stdout).text()])
    expect(code).toBe(0)
    const [first] = readdirSync(into)
    expect(JSON.parse(printed)).toMatchObject({ folder: join(into, first ?? '') })
    // The command refuses a second backup within the same second, because of its name.
    const firstMs = Date.parse(`${first?.slice(0, 11)}${first?.slice(11).replaceAll('-', ':')}`)
    await until(() => Date.now() >= firstMs + 1_000)
    const next = await runCommand(service.dataDirectory, 'backup', '--into', into, '--keep', '1')
    expect(next).toMatchObject({ code: 0 })
    const left = readdirSync(into)
    expect(left).toHaveLength(1)
    expect(left[0]! > first!).toBe(true)
    const check = ['restore', '--check', '--from', join(into, left[0]!), '--data-dir', join(into, 'x')]
    expect(await runCommand('', ...check)).toMatchObject({ code: 0 })
  } finally {
    await service.stop()
  }
}, 60_000)

test.each([
  [['--to', '/tmp/a', '--into', '/tmp/b'], 'use --to or --into, not both'],
  [['--to', '/tmp/a', '--every', '24h'], '--every and --keep require --into'],
  [['--to', '/tmp/a', '--keep', '3'], '--every and --keep require --into'],
  [['--into', '/tmp/b', '--every', '10s'], '--every must be at least 1m'],
  [['--into', '/tmp/b', '--every', 'daily'], '--every must be a duration'],
  [['--into', '/tmp/b', '--keep', '0'], '--keep must be at least 1'],
  [['--into', ''], '--into is required'],
  [[], '--to or --into is required'],
])('%p is refused', async (words, reason) => {
  const { code, stderr } = await runCommand(newFolder(), 'backup', ...words)
  expect([code, stderr]).toEqual([2, expect.stringContaining(reason)])
})
