// `countersign backup --into s3://…` and `restore --from s3://…`: complete and damaged backups, --keep, and failures.
import { Database as SqliteFile } from 'bun:sqlite'
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeKeyFile } from '../../src/setup/key-file.ts'
import { type CommandWorld, openCommandWorld } from '../cli/world.ts'
import { type FakeBucket, startFakeBucket } from '../log-shipping/fake-bucket.ts'
import { runCountersign } from '../service/run-to-end.ts'

const BUCKET = 'copies'
const PLACE = `s3://${BUCKET}/countersign`
const OLD = '2026-01-01T00-00-00Z'
setDefaultTimeout(60_000)

let world: CommandWorld
let bucket: FakeBucket
let scratch: string
beforeAll(async () => {
  world = await openCommandWorld()
  bucket = startFakeBucket(BUCKET)
  scratch = mkdtempSync(join(tmpdir(), 'countersign-backup-bucket-'))
})
beforeEach(() => {
  bucket.objects.clear()
  Object.assign(bucket, { failure: null, corrupts: false, surplus: 0, endless: false })
})
afterAll(async () => {
  world.remove()
  await bucket.stop()
  rmSync(scratch, { recursive: true, force: true })
})

const command = (dataDirectory: string, ...words: string[]) =>
  runCountersign(
    {
      COUNTERSIGN_DATA_DIR: dataDirectory,
      COUNTERSIGN_DECISIONS_SHIP_ENDPOINT: bucket.endpoint,
      COUNTERSIGN_DECISIONS_SHIP_CREDENTIALS: 'AKID:not-a-real-secret',
      TMPDIR: scratch,
    },
    ...words,
  )
const backUp = (...more: string[]) => command(world.root, 'backup', '--into', PLACE, ...more)
const names = () => [...new Set([...bucket.objects.keys()].map((key) => key.split('/')[1] ?? ''))].sort()
const firstBackup = async (): Promise<string> => {
  await backUp()
  return names()[0] ?? ''
}
const deleteBackup = (name: string): void => {
  for (const key of bucket.objects.keys()) if (key.includes(name)) bucket.objects.delete(key)
}
/** Copies a backup to another name. */
const putCopy = (from: string, name: string, without = ''): void => {
  for (const [key, content] of bucket.objects) {
    if (!key.includes(from) || (without !== '' && key.endsWith(without))) continue
    bucket.objects.set(key.replace(from, name), content)
  }
}

test('a backup can be restored, and no temporary files remain', async () => {
  const made = await backUp('--with-secrets')
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('decision log')])
  const [name = ''] = names()
  expect(made.stdout).toStartWith(`${PLACE}/${name}: `)
  const from = `${PLACE}/${name}`
  expect(await command(scratch, 'restore', '--from', from, '--check')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^s3:.* files, all valid\n$/),
  })
  const data = join(world.root, 'back')
  expect((await command(data, 'restore', '--from', from)).code).toBe(0)
  const passphrase = (root: string) => readFileSync(join(root, 'secrets', 'passphrase'), 'utf8')
  expect(passphrase(data)).toBe(passphrase(world.root))
  expect(readdirSync(scratch)).toEqual([])
  expect((await world.run('audit', 'list', '--json')).stdout).toContain('"command.backup"')
})

test('a backup is refused if evidence in the database has no file', async () => {
  const database = new SqliteFile(join(world.root, 'countersign.db'))
  try {
    database.run(`INSERT INTO session_evidence
        (id, organization_id, session_id, kind, media_type, byte_length, storage_name, wrapped_key, created_at_seconds)
      VALUES ('evidence_1', 'org', 'session', 'portrait', 'image/png', 1, 'on-another-disk', x'01', 1)`)
    const refused = await backUp()
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('on-another-disk is missing: check that the evidence folder is mounted')
    expect(names()).toEqual([])
    // Erased evidence has no file.
    database.run('UPDATE session_evidence SET wrapped_key = NULL, erased_at_seconds = 2')
    expect((await backUp()).code).toBe(0)
  } finally {
    database.run("DELETE FROM session_evidence WHERE id = 'evidence_1'")
    database.close()
  }
})

test('a backup is authenticated with the evidence key, and refused with another key', async () => {
  expect((await backUp()).stderr).toContain('Not authenticated: this command has no evidence key')
  bucket.objects.clear()
  const key = join(world.root, 'secrets', 'evidence-key')
  makeKeyFile(key)
  const made = await backUp()
  rmSync(key)
  expect(made.stderr).not.toContain('Not authenticated')
  const [name = ''] = names()
  const check = () => command(world.root, 'restore', '--from', `${PLACE}/${name}`, '--check')
  expect((await check()).stderr).toContain(/[0-9a-f]{64}/.exec(made.stdout)?.[0] ?? 'no hash')
  // The key of another deployment.
  makeKeyFile(key)
  expect(await check()).toMatchObject({ code: 1, stderr: expect.stringContaining('the backup was modified') })
  rmSync(key)
})

test('--keep deletes the oldest complete backups, and incomplete ones after a day', async () => {
  const first = await firstBackup()
  putCopy(first, OLD)
  const recent = new Date(Date.now() - 3_600_000).toISOString().slice(0, 19).replaceAll(':', '-')
  putCopy(first, `${recent}Z`, 'manifest.json')
  putCopy(first, '2026-01-02T00-00-00Z', 'manifest.json')
  deleteBackup(first)
  const { code, stderr } = await backUp('--keep', '1')
  expect([code, stderr]).toEqual([0, expect.stringContaining(`${PLACE}/${OLD}: deleted, because --keep is 1`)])
  expect(names()).toHaveLength(2)
  expect(names()[0]).toBe(`${recent}Z`)
})

test('a damaged upload is not a backup, and no older backup is deleted', async () => {
  const first = await firstBackup()
  putCopy(first, OLD)
  deleteBackup(first)
  bucket.corrupts = true
  const made = await backUp('--keep', '1')
  expect([made.code, made.stderr]).toEqual([1, expect.stringContaining('differs from the upload')])
  expect([...bucket.objects.keys()].filter((key) => key.endsWith('manifest.json'))).toEqual([
    `countersign/${OLD}/manifest.json`,
  ])
})

test('a backup with a missing or longer file is refused before a download', async () => {
  const name = await firstBackup()
  const database = `countersign/${name}/countersign.db`
  const content = bucket.objects.get(database) ?? Buffer.alloc(0)
  const restore = async () => {
    bucket.requests.length = 0
    const { code, stderr } = await command(join(world.root, 'none'), 'restore', '--from', `${PLACE}/${name}`)
    return [code, stderr, bucket.requests.filter((request) => request.includes('GET') && request.includes('.db'))]
  }
  const file = `${PLACE}/${name}/countersign.db`
  bucket.objects.set(database, Buffer.concat([content, Buffer.alloc(1)]))
  expect(await restore()).toEqual([1, `${file} has ${content.length + 1} bytes instead of ${content.length}\n`, []])
  bucket.objects.delete(database)
  expect(await restore()).toEqual([1, `${file} is missing\n`, []])
})

test('the download of a file ends at the size in the manifest', async () => {
  const name = await firstBackup()
  bucket.surplus = 1
  const { code, stderr } = await command(world.root, 'restore', '--from', `${PLACE}/${name}`, '--check')
  expect([code, stderr]).toEqual([1, expect.stringMatching(/ has more than \d+ bytes\n$/)])
  expect(readdirSync(scratch)).toEqual([])
})

test('a bucket that refuses requests, contains no backup or has an invalid URL causes a one-line error', async () => {
  bucket.failure = 403
  const refused = await backUp()
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/^s3:\/\/copies\/count.*\n$/)])
  bucket.failure = null
  const none = await command(join(world.root, 'none'), 'restore', '--from', `${PLACE}/${OLD}`)
  expect([none.code, none.stderr]).toEqual([1, `no backup found in ${PLACE}/${OLD}/\n`])
  const malformed = await command(world.root, 'backup', '--into', 's3://x')
  const [line] = malformed.stderr.split('\n')
  expect([malformed.code, line]).toEqual([2, '--into must be dir:/path or s3://bucket/prefix'])
  expect(readdirSync(scratch)).toEqual([])
})
