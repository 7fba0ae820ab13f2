// What erasing leaves in the database file, and what its rows refuse.

import { Database as BunDatabase } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { newIdentifier, newSessionId } from '../../src/domain/identifier.ts'
import { ConstraintViolatedError } from '../../src/store/errors.ts'
import { openTemporaryStore, type TemporaryStore } from './temporary-store.ts'

const WRAPPED_KEY = createHash('sha512').update('countersign test wrapped key').digest()

let temporary: TemporaryStore
beforeEach(async () => {
  temporary = await openTemporaryStore()
})
afterEach(async () => {
  await temporary.remove()
})

const seed = async () => {
  const { store } = temporary
  const { id: organizationId } = await store.organizations.create({ slug: 'demo', name: 'Demo' })
  const { session } = await store.sessions.register({
    organizationId,
    environment: 'live',
    checkType: 'kyc',
    sessionId: newSessionId(),
    provider: 'manual',
    tokenHash: new Uint8Array(32),
    walletAddress: null,
    originUrl: null,
    actor: 'key:test',
  })
  const target = { organizationId, sessionId: session.id }
  const record = {
    id: newIdentifier('evidence'),
    kind: 'portrait',
    mediaType: 'image/jpeg',
    byteLength: 10,
    fieldNames: [],
    createdAtSeconds: 1,
    storageName: 'a'.repeat(32),
    wrappedKey: WRAPPED_KEY,
    sealedName: null,
    sealedUnder: new Uint8Array(60),
  }
  await store.organizationKeys.add(organizationId, { wrappedKey: record.sealedUnder, wrappedBy: 'a key of tests' })
  // Neighbours, so that the row's space is not all there is on its page.
  for (const letter of ['b', 'a', 'c']) {
    const own = letter === 'a' ? record : { ...record, id: newIdentifier('evidence'), wrappedKey: new Uint8Array(64) }
    await store.evidence.addDocument(target, { ...own, storageName: letter.repeat(32) }, 3, 'person')
  }
  return { target, record }
}

test('an erased key is nowhere in the database once its log is written back', async () => {
  const { store, path } = temporary
  const { target, record } = await seed()
  await store.close()
  expect(readFileSync(path).includes(WRAPPED_KEY)).toBe(true)
  const { openStore } = await import('../../src/store/store.ts')
  const again = await openStore({ path, clock: temporary.clock })
  expect(await again.evidence.removeDocument(target, record.id, 'person')).toBeTruthy()
  await again.close()
  expect(existsSync(`${path}-wal`)).toBe(false)
  // No part of it either.
  const file = readFileSync(path)
  for (let at = 0; at + 8 <= WRAPPED_KEY.length; at += 8) {
    expect(file.includes(WRAPPED_KEY.subarray(at, at + 8))).toBe(false)
  }
})

test('a record of who read can be neither changed nor deleted', async () => {
  const { store, path } = temporary
  const { target, record } = await seed()
  await store.evidence.recordRead(target, record.id, 'operator:ada')
  const raw = new BunDatabase(path)
  expect(() => raw.run("UPDATE evidence_reads SET actor = 'nobody'")).toThrow('takes new rows only')
  expect(() => raw.run('DELETE FROM evidence_reads')).toThrow('takes new rows only')
  raw.close()
})

test('days out of range, and days of nobody, are refused', async () => {
  const { store } = temporary
  const { target } = await seed()
  const days = { completedDays: 1, rejectedDays: 1, abandonedDays: 1 }
  const refused = async (organizationId: string, retention: typeof days): Promise<void> => {
    await expect(store.evidenceRetention.set(organizationId, retention)).rejects.toBeInstanceOf(ConstraintViolatedError)
  }
  await refused(target.organizationId, { ...days, completedDays: -1 })
  await refused(target.organizationId, { ...days, abandonedDays: 36_501 })
  await refused('org_nobody', days)
})
