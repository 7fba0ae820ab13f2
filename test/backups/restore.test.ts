// Restores: verified files, the audit head of a restored tree, and authentication with the evidence key.
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

/** @param onVerified called between the verification of the backup and the copying of its files */
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

test('a backup is not restored if a file changes after its verification', async () => {
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

test.each(['null', '[]', '"text"'])('a manifest with the text %s is not restored', async (text) => {
  writeBackup({ 'countersign.db': 'tables' })
  writeFileSync(join(backup(), MANIFEST), text)
  expect(await restore()).toMatchObject({ code: 1, stderr: expect.stringContaining('has an unsupported version') })
})

test('a restored tree has no audit head, but keeps all other values', async () => {
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

  test('is restored with the key, including during a rotation', async () => {
    writeBackup(FILES, [KEY])
    expect(await restore(unchanged, [other, KEY], '--check')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('authenticated with the evidence key'),
      stderr: '',
    })
    const restored = await restore(unchanged, [KEY])
    expect([restored.code, restored.stderr]).toEqual([0, expect.not.stringContaining('Not authenticated')])
  })

  const set = (values: object): void => change((manifest) => Object.assign(manifest, values))
  test.each<[string, () => void]>([
    ['a changed file and hash', () => writeBackup({ ...FILES, 'countersign.db': 'forged' })],
    [
      'a changed file and hash, and the original MAC',
      () => {
        const { mac } = JSON.parse(readFileSync(join(backup(), MANIFEST), 'utf8')) as BackupManifest
        writeBackup({ ...FILES, 'countersign.db': 'forged' })
        set({ mac })
      },
    ],
    ['a changed time', () => set({ createdAt: '2026-11-24T00:00:00.000Z' })],
    ['the MAC of another key', () => writeBackup(FILES, [other])],
    ['an empty MAC', () => set({ mac: '' })],
    ['no MAC', () => change((manifest) => delete manifest['mac'])],
  ])('is not restored with %s, unless --unauthenticated is given', async (_, edit) => {
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

  test('is refused if its key was rotated; the error names the setting for the earlier key', async () => {
    writeBackup(FILES, [other])
    const { stderr } = await restore(unchanged, [KEY], '--check')
    expect(stderr).toContain('before a rotation. Then set COUNTERSIGN_EVIDENCE_KEY_FILE to the earlier key')
    expect(await restore(unchanged, [other], '--check')).toMatchObject({ code: 0 })
  })

  test('is restored without the key, and the hash of its manifest is printed', async () => {
    writeBackup(FILES, [KEY])
    const digest = createHash('sha256').update(readFileSync(join(backup(), MANIFEST)))
    const { code, stderr } = await restore()
    expect(code).toBe(0)
    expect(stderr).toContain('Not authenticated: to verify the backup, set COUNTERSIGN_EVIDENCE_KEY_FILE')
    expect(stderr).toContain(digest.digest('hex'))
  })

  test.each(['--check', '--try'])('is refused without a MAC, with %s', async (flag) => {
    writeBackup(FILES)
    const refused = { code: 1, stderr: expect.stringContaining('the backup has no MAC') }
    expect(await restore(unchanged, [KEY], flag)).toMatchObject(refused)
  })
})
