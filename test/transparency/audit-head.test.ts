// The signed newest entry of the audit log, stored with the head of the tree.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { auditHeadProblems } from '../../src/modules/transparency/service/audit-head.ts'
import { signCheckpoint } from '../../src/modules/transparency/tree/checkpoint.ts'
import { NoteInvalidError, verifierKeyOf } from '../../src/modules/transparency/tree/note.ts'
import { openAuditHead, signAuditHead } from '../../src/modules/transparency/verify/audit-head.ts'
import { createAuditKeeper } from '../../src/modules/transparency/worker/audit-keeper.ts'
import { removeTemporaryDirectories, temporaryDirectory } from '../decision-log/fixtures.ts'
import { openTemporaryStore, type TemporaryStore } from '../store/temporary-store.ts'
import { createTestMaker, TEST_SIGNER } from './tree-fixtures.ts'

const { key } = TEST_SIGNER
const EARLIER_SIGNER = { ...TEST_SIGNER, key: { ...key, name: `${key.name}/0` } }
const hashOf = (number: number): string => number.toString(16).padStart(64, '0')
let file = ''
let tree: Awaited<ReturnType<typeof createTestMaker>>['tree']

beforeEach(async () => {
  const root = temporaryDirectory()
  file = join(root, 'audit.checkpoint')
  ;({ tree } = await createTestMaker(root))
})
afterEach(async () => {
  await tree.close()
  removeTemporaryDirectories()
})

const keeper = () => createAuditKeeper({ tree, file, key, signer: async () => TEST_SIGNER })

test('the newest entry is stored in the file and in the tables, and is not replaced by an older entry', async () => {
  const first = keeper()
  expect(await first.keep(null)).toBeNull()
  expect(await first.keep({ sequence: 5, hash: hashOf(5) })).toEqual({ sequence: 5, hash: hashOf(5) })
  expect(await first.keep({ sequence: 7, hash: hashOf(7) })).toEqual({ sequence: 7, hash: hashOf(7) })
  for (const encoded of [readFileSync(file, 'utf8'), (await tree.reader.auditHead()) ?? '']) {
    expect(openAuditHead(encoded, key)).toEqual({ sequence: 7, hash: hashOf(7) })
  }
  rmSync(file)
  // Either of the two places is sufficient.
  expect(await keeper().keep({ sequence: 6, hash: hashOf(6) })).toEqual({ sequence: 7, hash: hashOf(7) })
  expect(await keeper().keep({ sequence: 7, hash: hashOf(8) })).toEqual({ sequence: 7, hash: hashOf(7) })
})

test('an invalid head is refused and not overwritten: a head of the tree, a forged one, and other text', async () => {
  const head = { sequence: 3, hash: hashOf(3) }
  const strange = { ...TEST_SIGNER, sign: () => Buffer.alloc(64) }
  for (const encoded of [
    signCheckpoint({ size: 3, root: Buffer.alloc(32) }, TEST_SIGNER),
    signAuditHead(head, strange),
    'none',
  ]) {
    expect(() => openAuditHead(encoded, key)).toThrow(NoteInvalidError)
    writeFileSync(file, encoded)
    await expect(keeper().keep(head)).rejects.toThrow(NoteInvalidError)
    expect(readFileSync(file, 'utf8')).toBe(encoded)
  }
})

test('the head of another log in the file, as after begin-tree on another node, is overwritten', async () => {
  writeFileSync(file, signAuditHead({ sequence: 9, hash: hashOf(9) }, EARLIER_SIGNER))
  await keeper().keep({ sequence: 3, hash: hashOf(3) })
  expect(openAuditHead(readFileSync(file, 'utf8'), key).sequence).toBe(3)
})

test('a truncated, rolled back or rewritten audit log is reported for each stored head', async () => {
  const temporary: TemporaryStore = await openTemporaryStore()
  try {
    const entry = { organizationId: null, actor: 'service', actorName: '', action: 'test', detail: {}, requestId: '' }
    for (const subject of ['one', 'two', 'three']) await temporary.store.audit.append({ ...entry, subject })
    const [newest] = (await temporary.store.audit.page({}, { after: null, limit: 1 })).items
    const { sequence, hash } = newest ?? { sequence: 0, hash: '' }
    const problems = () => auditHeadProblems(temporary.store, { key }, { auditHead: file }, tree.reader)
    writeFileSync(file, signAuditHead({ sequence, hash: hashOf(1) }, EARLIER_SIGNER))
    expect(await problems()).toEqual([])
    await keeper().keep({ sequence: sequence - 1, hash: newest?.previousHash ?? '' })
    expect(await problems()).toEqual([])
    await keeper().keep({ sequence, hash })
    expect(await problems()).toEqual([])
    await tree.writer.keepAuditHead(signAuditHead({ sequence: sequence + 1, hash: hashOf(1) }, TEST_SIGNER))
    expect(await problems()).toEqual([
      `the audit head next to the tree: the audit log was truncated, rolled back or rewritten: its entry ${sequence + 1} is missing`,
    ])
    writeFileSync(file, signAuditHead({ sequence, hash: hashOf(1) }, TEST_SIGNER))
    expect((await problems())[0]).toBe(
      `${file}: the audit log was truncated, rolled back or rewritten: its entry ${sequence} is different`,
    )
    writeFileSync(file, 'none')
    expect((await problems())[0]).toBe(`${file}: the text is not a signed note`)
  } finally {
    await temporary.remove()
  }
})

test('a head that the same key signed under an earlier name is not ignored: only the name was changed', async () => {
  const renamed = { ...TEST_SIGNER, key: verifierKeyOf(`${key.name}/0`, key.type, key.publicKey) }
  const encoded = signAuditHead({ sequence: 9, hash: hashOf(9) }, renamed)
  writeFileSync(file, encoded)
  await expect(keeper().keep({ sequence: 3, hash: hashOf(3) })).rejects.toThrow(NoteInvalidError)
  expect(readFileSync(file, 'utf8')).toBe(encoded)
  const audit = { entryAt: async () => null, head: async () => null } as never
  expect(await auditHeadProblems({ audit }, { key }, { auditHead: file }, null)).toEqual([
    expect.stringContaining(`not signed by ${key.name}`),
  ])
})
