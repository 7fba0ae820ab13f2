// Traces of erased evidence in the database file, and refused changes to its rows.
import { Database as BunDatabase } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { ConstraintViolatedError } from '../../src/store/errors.ts'
import { openStore } from '../../src/store/store.ts'
import { createSession, documentRecord, ORGANIZATION_KEY } from './session-fixtures.ts'
import { storeOfTest } from './store-of-test.ts'
import { openTemporaryStore } from './temporary-store.ts'

const WRAPPED_KEY = createHash('sha512').update('countersign test wrapped key').digest()

const temporary = storeOfTest(openTemporaryStore)

const seed = async () => {
  const { store } = temporary
  const { id: organizationId } = await store.organizations.create({ slug: 'demo', name: 'Demo' })
  await store.organizationKeys.add(organizationId, ORGANIZATION_KEY)
  const target = await createSession(store, organizationId)
  const record = { ...documentRecord(), wrappedKey: WRAPPED_KEY }
  // Its neighbors are on the same page of the file.
  for (const document of [documentRecord(), record, documentRecord()]) {
    await store.evidence.addDocument(target, document, 3, 'person')
  }
  return { target, record }
}

test('an erased key is not in the database file after a checkpoint', async () => {
  const { store, path } = temporary
  const { target, record } = await seed()
  await store.close()
  expect(readFileSync(path).includes(WRAPPED_KEY)).toBe(true)
  const again = await openStore({ path, clock: temporary.clock })
  expect(await again.evidence.removeDocument(target, record.id, 'person')).toBeTruthy()
  await again.close()
  expect(existsSync(`${path}-wal`)).toBe(false)
  // The file contains no part of the key.
  const file = readFileSync(path)
  for (let at = 0; at + 8 <= WRAPPED_KEY.length; at += 8) {
    expect(file.includes(WRAPPED_KEY.subarray(at, at + 8))).toBe(false)
  }
})

test('the record of an evidence read can be neither changed nor deleted', async () => {
  const { store, path } = temporary
  const { target, record } = await seed()
  await store.evidence.recordRead(target, record.id, 'operator:ada')
  const raw = new BunDatabase(path)
  expect(() => raw.run("UPDATE evidence_reads SET actor = 'another'")).toThrow('takes new rows only')
  expect(() => raw.run('DELETE FROM evidence_reads')).toThrow('takes new rows only')
  raw.close()
})

test('retention days that are out of range, or for an unknown organization, are refused', async () => {
  const { store } = temporary
  const { target } = await seed()
  const days = { completedDays: 1, rejectedDays: 1, abandonedDays: 1 }
  const refused = async (organizationId: string, retention: typeof days): Promise<void> => {
    await expect(store.evidenceRetention.set(organizationId, retention)).rejects.toBeInstanceOf(ConstraintViolatedError)
  }
  await refused(target.organizationId, { ...days, completedDays: -1 })
  await refused(target.organizationId, { ...days, abandonedDays: 36_501 })
  await refused('org_unknown', days)
})
