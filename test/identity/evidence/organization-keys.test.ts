// Keys under keys: each organization's own, useless without the deployment's, for one purpose and one thing only.
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
const refused = async (attempt: Promise<unknown>): Promise<void> => {
  await expect(attempt).rejects.toBeInstanceOf(EvidenceUnreadableError)
}

describe('sealed bytes', () => {
  test('come back under the same key and context, and under no other', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), fc.string(), (bytes, context, other) => {
        const sealed = sealBytes(keyOf(1), bytes, context)
        expect(Buffer.from(openBytes(keyOf(1), sealed, context)).equals(Buffer.from(bytes))).toBe(true)
        expect(() => openBytes(keyOf(2), sealed, context)).toThrow(EvidenceUnreadableError)
        if (other !== context) expect(() => openBytes(keyOf(1), sealed, other)).toThrow(EvidenceUnreadableError)
      }),
    )
  })

  test('are refused when a bit was changed or a byte is missing', () => {
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
  test('open what they sealed, after a restart too', async () => {
    const { store } = memoryStore()
    const first = createOrganizationKeys({ store, deploymentKeys: () => [keyOf(1)] })
    const { sealed } = await first.seal('org_a', 'webhook secret', 'endpoint_1', SECRET)
    const second = createOrganizationKeys({ store, deploymentKeys: () => [keyOf(1)] })
    expect(await second.open('org_a', 'webhook secret', 'endpoint_1', sealed)).toEqual(SECRET)
  })

  test('open nothing of another organization, purpose or thing', async () => {
    const { store } = memoryStore()
    const keys = createOrganizationKeys({ store, deploymentKeys: () => [keyOf(1)] })
    const { sealed } = await keys.seal('org_a', 'webhook secret', 'endpoint_1', SECRET)
    await refused(keys.open('org_b', 'webhook secret', 'endpoint_1', sealed))
    await refused(keys.open('org_a', 'evidence data key', 'endpoint_1', sealed))
    await refused(keys.open('org_a', 'webhook secret', 'endpoint_2', sealed))
  })

  test('are worth nothing without the deployment’s key, or in another organization’s row', async () => {
    const { store, rows } = memoryStore()
    const keys = createOrganizationKeys({ store, deploymentKeys: () => [keyOf(1)] })
    const { sealed } = await keys.seal('org_a', 'webhook secret', 'endpoint_1', SECRET)
    expect([...rows.values()].map(({ wrappedBy }) => wrappedBy)).toEqual([keyFingerprint(keyOf(1))])
    await refused(
      createOrganizationKeys({ store, deploymentKeys: () => [keyOf(2)] }).open('org_a', 'webhook secret', 'x', sealed),
    )
    rows.set('org_b', rows.get('org_a')!)
    await refused(
      createOrganizationKeys({ store, deploymentKeys: () => [keyOf(1)] }).seal('org_b', 'webhook secret', 'x', SECRET),
    )
  })

  test('are one key, also when two ask for a new one at the same moment in two processes', async () => {
    const { store } = memoryStore()
    const [one, two] = [1, 2].map(() => createOrganizationKeys({ store, deploymentKeys: () => [keyOf(1)] }))
    const sealed = await Promise.all(
      [one!, two!].map((keys) => keys.seal('org_a', 'webhook secret', 'endpoint_1', SECRET)),
    )
    for (const keys of [one!, two!]) {
      for (const { sealed: bytes } of sealed)
        expect(await keys.open('org_a', 'webhook secret', 'endpoint_1', bytes)).toEqual(SECRET)
    }
  })

  test('are asked for again after the store failed', async () => {
    const { store } = memoryStore()
    let broken = true
    const keys = createOrganizationKeys({
      deploymentKeys: () => [keyOf(1)],
      store: {
        ...store,
        find: (organizationId) => (broken ? Promise.reject(new Error('down')) : store.find(organizationId)),
      },
    })
    await expect(keys.seal('org_a', 'webhook secret', 'x', SECRET)).rejects.toThrow('down')
    broken = false
    expect((await keys.seal('org_a', 'webhook secret', 'x', SECRET)).sealed.length).toBe(60)
  })
})
