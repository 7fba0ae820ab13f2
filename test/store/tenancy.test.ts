// Invariant 6: every read names its organization. Each function is called with ids of another organization.
import { beforeAll, describe, expect, test } from 'bun:test'
import { allBindings, allKeys, allPolicies, allRevisions } from '../support/all-rows.ts'
import { describeStores } from './dialects.ts'
import { storeOfSuite } from './store-of-test.ts'
import { seedOrganization } from './temporary-store.ts'

describeStores((openTemporaryStore) => {
  type Seed = Awaited<ReturnType<typeof seedOrganization>>

  const temporary = storeOfSuite(openTemporaryStore)
  let ours: Seed
  let theirs: Seed

  beforeAll(async () => {
    ours = await seedOrganization(temporary.store, 'ours')
    theirs = await seedOrganization(temporary.store, 'theirs')
  })

  const snapshot = async () => {
    const { store } = temporary
    const id = theirs.organizationId
    return {
      keys: await allKeys(store, id),
      projects: await store.projects.list(id),
      policies: await allPolicies(store, id),
      revisions: await allRevisions(store, id, theirs.policy.id),
      bindings: await allBindings(store, id, theirs.project.id),
    }
  }

  describe('another organization’s row', () => {
    test('is neither found by a read nor changed by a write', async () => {
      const { store } = temporary
      const us = ours.organizationId
      const before = await snapshot()
      expect(await store.apiKeys.find(us, theirs.key.record.keyId)).toBeNull()
      expect(await store.apiKeys.revoke(us, theirs.key.record.keyId)).toBeNull()
      expect(await store.apiKeys.regenerate(us, theirs.key.record.keyId, 0)).toEqual({ status: 'unknown' })
      expect(await store.projects.find(us, theirs.project.id)).toBeNull()
      expect(await store.projects.update(us, theirs.project.id, { name: 'taken' })).toBeNull()
      expect(await store.policies.find(us, theirs.policy.id)).toBeNull()
      expect(await store.policies.rename(us, theirs.policy.id, 'taken')).toBeNull()
      expect(await store.policies.findRevision(us, theirs.revision.id)).toBeNull()
      expect(await allRevisions(store, us, theirs.policy.id)).toEqual([])
      expect(await store.policies.activateRevision(us, theirs.policy.id, theirs.revision.id)).toBeNull()
      expect(
        await store.policies.saveRevision({ organizationId: us, policyId: theirs.policy.id, source: 'x', quorum: 1 }),
      ).toBeNull()
      expect(await allBindings(store, us, theirs.project.id)).toEqual([])
      expect(await store.bindings.remove(us, theirs.binding.id)).toBeNull()
      expect(await store.policySource.loadProjectTarget(us, theirs.project.verificationHash)).toBeNull()
      expect(await snapshot()).toEqual(before)
    })

    test('cannot be referenced, because the schema rejects it', async () => {
      const { store } = temporary
      const organizationId = ours.organizationId
      const { policy, project } = theirs
      const binding = { organizationId, projectId: project.id, chainName: 'base', address: '0x01' }
      for (const link of [
        () => store.projects.create({ organizationId, name: 'x', policyId: policy.id }),
        () => store.projects.update(organizationId, ours.project.id, { policyId: policy.id }),
        () => store.bindings.create(binding),
      ]) {
        await expect(link()).rejects.toMatchObject({ constraint: 'foreign-key' })
      }
      // Only revisions of the policy itself can be activated.
      const other = await store.policies.create({ organizationId, name: 'other' })
      expect(await store.policies.activateRevision(organizationId, other.id, ours.revision.id)).toBeNull()
      expect(await store.policies.activateRevision(organizationId, other.id, theirs.revision.id)).toBeNull()
    })

    test('is not in the organization’s lists', async () => {
      const { store } = temporary
      expect((await allKeys(store, ours.organizationId)).map((key) => key.keyId)).toEqual([ours.key.record.keyId])
      expect((await store.projects.list(ours.organizationId)).map((project) => project.id)).toEqual([ours.project.id])
      expect((await allPolicies(store, theirs.organizationId)).map((policy) => policy.id)).toEqual([theirs.policy.id])
    })
  })

  describe('an address', () => {
    test('can be bound by two organizations, each to its own project', async () => {
      const { policySource, bindings } = temporary.store
      const { chainName, address } = ours.binding
      expect(theirs.binding.address).toBe(address)
      for (const seed of [ours, theirs]) {
        const target = await policySource.loadBindingTarget(seed.organizationId, chainName, address)
        expect(target?.projectId).toBe(seed.project.id)
        expect(target?.verificationHash).toBe(seed.project.verificationHash)
        expect((await bindings.findByAddress(seed.organizationId, chainName, address))?.id).toBe(seed.binding.id)
      }
    })

    test('can be bound once per organization and chain', async () => {
      const { id: _id, createdAtSeconds: _at, ...binding } = ours.binding
      await expect(temporary.store.bindings.create(binding)).rejects.toMatchObject({ constraint: 'unique' })
      expect(await temporary.store.bindings.create({ ...binding, chainName: 'base' })).toMatchObject({
        chainName: 'base',
      })
    })
  })

  test('a verification hash, which is signed, belongs to one project of the deployment', async () => {
    const { organizationId, policy } = ours
    const { verificationHash } = theirs.project
    const impostor = { organizationId, name: 'impostor', policyId: policy.id, verificationHash }
    await expect(temporary.store.projects.create(impostor)).rejects.toMatchObject({ constraint: 'unique' })
  })
})
