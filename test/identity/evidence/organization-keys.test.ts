// Organization keys: unusable without the deployment key. Each sealed value opens for only one purpose and subject.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { EvidenceUnreadableError } from '../../../src/identity/evidence/errors.ts'
import {
  createOrganizationKeys,
  keyFingerprint,
  type OrganizationKeyStore,
  type WrappedOrganizationKey,
} from '../../../src/identity/evidence/organization-keys.ts'
import { openBytes, sealBytes } from '../../../src/identity/evidence/sealed-bytes.ts'

const keyOf = (number: number): Uint8Array =>
  createHash('sha256').update(`countersign test deployment key ${number}`).digest()

const memoryStore = () => {
  const rows = new Map<string, WrappedOrganizationKey>()
  const store: OrganizationKeyStore = {
    find: async (organizationId) => rows.get(organizationId) ?? null,
    add: async (organizationId, key) => {
      const there = rows.get(organizationId)
      if (there !== undefined) return there
      rows.set(organizationId, key)
      return key
    },
  }
  return { rows, store }
}

const SECRET = new Uint8Array(32).fill(7)
const keysOver = (store: OrganizationKeyStore, number = 1) =>
  createOrganizationKeys({ store, deploymentKeys: () => [keyOf(number)] })
const refused = async (attempt: Promise<unknown>): Promise<void> => {
  await expect(attempt).rejects.toBeInstanceOf(EvidenceUnreadableError)
}

describe('sealed bytes', () => {
  test('open only with the same key and context', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), fc.string(), (bytes, context, other) => {
        const sealed = sealBytes(keyOf(1), bytes, context)
        expect(Buffer.from(openBytes(keyOf(1), sealed, context)).equals(Buffer.from(bytes))).toBe(true)
        expect(() => openBytes(keyOf(2), sealed, context)).toThrow(EvidenceUnreadableError)
        if (other !== context) expect(() => openBytes(keyOf(1), sealed, other)).toThrow(EvidenceUnreadableError)
      }),
    )
  })

  test('are refused if a bit changed or a byte is missing', () => {
    const sealed = sealBytes(keyOf(1), SECRET, 'here')
    for (let at = 0; at < sealed.length; at++) {
      const changed = Uint8Array.from(sealed)
      changed[at] = changed[at]! ^ 1
      expect(() => openBytes(keyOf(1), changed, 'here')).toThrow(EvidenceUnreadableError)
      expect(() => openBytes(keyOf(1), sealed.subarray(0, at), 'here')).toThrow(EvidenceUnreadableError)
    }
  })
})

describe('organization keys', () => {
  test('open sealed values after a restart, only for the same organization, purpose and subject', async () => {
    const { store } = memoryStore()
    const { sealed } = await keysOver(store).seal('org_a', 'webhook secret', 'endpoint_1', SECRET)
    const keys = keysOver(store)
    expect(await keys.open('org_a', 'webhook secret', 'endpoint_1', sealed)).toEqual(SECRET)
    await refused(keys.open('org_b', 'webhook secret', 'endpoint_1', sealed))
    await refused(keys.open('org_a', 'evidence data key', 'endpoint_1', sealed))
    await refused(keys.open('org_a', 'webhook secret', 'endpoint_2', sealed))
  })

  test('do not open values with another deployment key, or in the row of another organization', async () => {
    const { store, rows } = memoryStore()
    const { sealed } = await keysOver(store).seal('org_a', 'webhook secret', 'endpoint_1', SECRET)
    expect([...rows.values()].map(({ wrappedBy }) => wrappedBy)).toEqual([keyFingerprint(keyOf(1))])
    await refused(keysOver(store, 2).open('org_a', 'webhook secret', 'x', sealed))
    rows.set('org_b', rows.get('org_a')!)
    await refused(keysOver(store).seal('org_b', 'webhook secret', 'x', SECRET))
  })

  test('are created once, even if two processes create one simultaneously', async () => {
    const { store } = memoryStore()
    const processes = [keysOver(store), keysOver(store)]
    const sealed = await Promise.all(
      processes.map((keys) => keys.seal('org_a', 'webhook secret', 'endpoint_1', SECRET)),
    )
    for (const keys of processes) {
      for (const { sealed: bytes } of sealed)
        expect(await keys.open('org_a', 'webhook secret', 'endpoint_1', bytes)).toEqual(SECRET)
    }
  })

  test('are read again after the store fails', async () => {
    const { store } = memoryStore()
    let broken = true
    const keys = keysOver({
      ...store,
      find: (organizationId) => (broken ? Promise.reject(new Error('down')) : store.find(organizationId)),
    })
    await expect(keys.seal('org_a', 'webhook secret', 'x', SECRET)).rejects.toThrow('down')
    broken = false
    expect((await keys.seal('org_a', 'webhook secret', 'x', SECRET)).sealed.length).toBe(60)
  })
})
