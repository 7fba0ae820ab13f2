// A restore copies what it verified, and a restored tree forgets the head of an audit log that is of another moment.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { authenticate } from '../../src/modules/backups/commands/backup-authentication.ts'
import {
  BACKUP_FORMAT,
  type BackupManifest,
  MANIFEST,
  manifestText,
} from '../../src/modules/backups/commands/backup-manifest.ts'
import { runRestore } from '../../src/modules/backups/commands/restore.ts'
import { TREE_TABLES } from '../../src/modules/transparency/store/copy.ts'
import { openTreeDatabase } from '../../src/modules/transparency/store/open.ts'
import { createDecisionTree } from '../../src/modules/transparency/store/tables.ts'
import { dataFolderAt } from '../../src/setup/data-folder.ts'
import { recordOutput } from '../cli/recorded-output.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-restore-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const backup = (): string => join(folder, 'backup')

const KEY = new Uint8Array(32).fill(7)

const writeBackup = (files: Readonly<Record<string, Uint8Array | string>>, keys: readonly Uint8Array[] = []): void => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(backup(), path)), { recursive: true })
    writeFileSync(join(backup(), path), content)
  }
  const manifest: BackupManifest = {
    format: BACKUP_FORMAT,
    version: '1.2.3',
    createdAt: '2026-11-23T04:30:00.000Z',
    deploymentId: 'ours',
    schema: 1,
    store: 'sqlite',
    withSecrets: false,
    withDecisions: false,
    files: Object.entries(files).map(([path, content]) => ({
      path,
      bytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    })),
  }
  writeFileSync(join(backup(), MANIFEST), manifestText(authenticate(manifest, keys)))
}

/** @param onVerified called after the backup was verified, and before its files are copied */
const restore = async (
  onVerified: () => void = () => undefined,
  keys: readonly Uint8Array[] = [],
  ...words: readonly string[]
) => {
  const { output, printed } = recordOutput()
  const data = dataFolderAt(join(folder, 'data'))
  const unused = () => {
    throw new Error('it is not used')
  }
  const code = await runRestore(['--from', backup(), ...words], {
    output,
    folder: data,
    monotonicMs: () => 0,
    openBucket: unused,
    evidenceKeys: async () => keys,
    treeTables: TREE_TABLES,
    trial: unused,
    inspectTokenKeys: async () => [],
    locateStore: async () => {
      onVerified()
      return { kind: 'sqlite', path: data.database }
    },
  })
  return { code, data, ...printed }
}

test('a file that changes after it was verified is not restored, and nothing of the backup is', async () => {
  writeBackup({ 'countersign.db': 'tables', 'keystores/one.json': 'keys' })
  const { code, stderr, data } = await restore(() => writeFileSync(join(backup(), 'keystores/one.json'), 'syek'))
  expect(code).toBe(1)
  expect(stderr).toContain('keystores/one.json changed during the restore')
  expect(existsSync(data.root)).toBe(false)
  rmSync(backup(), { recursive: true })
  writeBackup({ 'countersign.db': 'tables', 'keystores/one.json': 'keys' })
  expect((await restore()).code).toBe(0)
  expect(readFileSync(join(data.keystores, 'one.json'), 'utf8')).toBe('keys')
})

test('a restored tree forgets the kept head of the audit log alone', async () => {
  const made = { kind: 'sqlite', path: join(folder, 'made.db') } as const
  const tree = await openTreeDatabase(made, 5_000)
  await tree.transaction(async (transaction) => {
    await createDecisionTree(tree, transaction)
    await transaction.execute("INSERT INTO decision_tree_meta (name, value) VALUES ('audit_head', 'kept')")
  })
  const before = await tree.query<{ name: string }>('SELECT name FROM decision_tree_meta ORDER BY name')
  await tree.query('PRAGMA wal_checkpoint(TRUNCATE)')
  await tree.close()
  writeBackup({ 'countersign.db': 'tables', 'decision-tree.db': new Uint8Array(readFileSync(made.path)) })
  const { code, data } = await restore()
  expect(code).toBe(0)
  const restored = await openTreeDatabase({ kind: 'sqlite', path: data.decisionTree }, 5_000)
  const after = await restored.query<{ name: string }>('SELECT name FROM decision_tree_meta ORDER BY name')
  await restored.close()
  expect(after).toEqual(before.filter(({ name }) => name !== 'audit_head'))
  expect(after.length).toBe(before.length - 1)
})

describe('a backup that the evidence key authenticates', () => {
  const FILES = { 'countersign.db': 'tables', 'keystores/one.json': 'keys' }
  const other = new Uint8Array(32).fill(8)
  const unchanged = () => undefined
  const change = (edit: (manifest: Record<string, unknown>) => void): void => {
    const path = join(backup(), MANIFEST)
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
    edit(manifest)
    writeFileSync(path, JSON.stringify(manifest))
  }

  test('is restored with this key, also during its rotation', async () => {
    writeBackup(FILES, [KEY])
    expect(await restore(unchanged, [other, KEY], '--check')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('authenticated with the evidence key'),
      stderr: '',
    })
    const restored = await restore(unchanged, [KEY])
    expect([restored.code, restored.stderr]).toEqual([0, expect.not.stringContaining('Not authenticated')])
  })

  test.each<[string, () => void]>([
    [
      'a file and its hash are changed',
      () => {
        writeBackup({ ...FILES, 'countersign.db': 'forged' })
      },
    ],
    [
      'a file and its hash are changed, and the MAC stays',
      () => {
        const { mac } = JSON.parse(readFileSync(join(backup(), MANIFEST), 'utf8')) as BackupManifest
        writeBackup({ ...FILES, 'countersign.db': 'forged' })
        change((manifest) => Object.assign(manifest, { mac }))
      },
    ],
    [
      'its time is changed',
      () => change((manifest) => Object.assign(manifest, { createdAt: '2026-11-24T00:00:00.000Z' })),
    ],
    ['its MAC is of another key', () => writeBackup(FILES, [other])],
    ['its MAC is cut short', () => change((manifest) => Object.assign(manifest, { mac: '' }))],
    ['its MAC is removed', () => change((manifest) => delete manifest['mac'])],
  ])('is not restored when %s, unless --unauthenticated is given', async (_, edit) => {
    writeBackup(FILES, [KEY])
    edit()
    const refused = await restore(unchanged, [KEY])
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('use --unauthenticated') })
    expect(existsSync(refused.data.root)).toBe(false)
    expect(await restore(unchanged, [KEY], '--unauthenticated')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Not authenticated: '),
    })
  })

  test('with the MAC of a rotated key, is refused with the setting for that key', async () => {
    writeBackup(FILES, [other])
    const { stderr } = await restore(unchanged, [KEY], '--check')
    expect(stderr).toContain('before a rotation. Then set COUNTERSIGN_EVIDENCE_KEY_FILE to the earlier key')
    expect(await restore(unchanged, [other], '--check')).toMatchObject({ code: 0 })
  })

  test('is restored without the key, with the hash of its manifest to compare', async () => {
    writeBackup(FILES, [KEY])
    const digest = createHash('sha256')
      .update(readFileSync(join(backup(), MANIFEST)))
      .digest('hex')
    const { code, stderr } = await restore()
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(`Not authenticated: to verify the backup, set COUNTERSIGN_EVIDENCE_KEY_FILE`),
    ])
    expect(stderr).toContain(digest)
  })

  test.each(['--check', '--try'])('without a MAC is refused with %s too', async (flag) => {
    writeBackup(FILES)
    expect(await restore(unchanged, [KEY], flag)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the backup has no MAC'),
    })
  })
})
