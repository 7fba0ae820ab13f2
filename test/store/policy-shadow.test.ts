// The shadow revision of a policy: a revision of the same policy, part of the target's id, and ended by its activation.
import { expect, test } from 'bun:test'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'
import { seedOrganization } from './temporary-store.ts'

describeStores((openTemporaryStore) => {
  const temporary = storeOfTest(openTemporaryStore)

  const setUp = async () => {
    const { store } = temporary
    const { organizationId, policy, project, revision } = await seedOrganization(store, 'demo')
    const input = { organizationId, policyId: policy.id, source: 'name: P\nrules: []\n', quorum: 1 }
    const next = await store.policies.saveRevision(input)
    if (next === null) throw new Error('not saved')
    const target = () => store.policySource.loadProjectTarget(organizationId, project.verificationHash)
    return { store, organizationId, policyId: policy.id, revision, next, target }
  }

  test('a revision shadows the active one until it ends or is activated', async () => {
    const { store, organizationId, policyId, revision, next, target } = await setUp()
    const before = await target()
    expect(await store.policies.shadowRevision(organizationId, policyId, next.id)).toMatchObject({
      activeRevisionId: revision.id,
      shadowRevisionId: next.id,
    })
    const shadowed = await target()
    expect(shadowed).toMatchObject({ revisionId: revision.id, shadowRevisionId: next.id })
    expect(shadowed?.id).not.toBe(before?.id)

    expect(await store.policies.endShadow(organizationId, policyId)).toMatchObject({ shadowRevisionId: null })
    expect(await target()).toMatchObject({ shadowRevisionId: null })

    await store.policies.shadowRevision(organizationId, policyId, next.id)
    await store.policies.activateRevision(organizationId, policyId, next.id)
    expect(await target()).toMatchObject({ revisionId: next.id, shadowRevisionId: null })
    // A rollback keeps another shadow.
    await store.policies.shadowRevision(organizationId, policyId, next.id)
    await store.policies.activateRevision(organizationId, policyId, revision.id)
    expect(await target()).toMatchObject({ revisionId: revision.id, shadowRevisionId: next.id })
  })

  test('only a revision of the policy can be its shadow, for the policy’s organization', async () => {
    const { store, organizationId, policyId, next } = await setUp()
    const other = await seedOrganization(store, 'other')
    expect(await store.policies.shadowRevision(organizationId, policyId, other.revision.id)).toBeNull()
    expect(await store.policies.shadowRevision(organizationId, policyId, 'revision_gone')).toBeNull()
    expect(await store.policies.shadowRevision(other.organizationId, policyId, next.id)).toBeNull()
    expect(await store.policies.endShadow(other.organizationId, policyId)).toBeNull()
    expect(await store.policies.find(organizationId, policyId)).toMatchObject({ shadowRevisionId: null })
  })
})
