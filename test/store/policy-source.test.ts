// Targets, revisions and attesters as the attestation API loads them, and the changes that invalidate its caches.
import { beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readNewest } from '../../src/store/changes.ts'
import { bindingSubject } from '../../src/store/organizations/bindings.ts'
import { allRevisions } from '../support/all-rows.ts'
import { changesSince } from './changes-since.ts'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'
import { seedOrganization } from './temporary-store.ts'

describeStores((openTemporaryStore) => {
  const temporary = storeOfTest(openTemporaryStore)
  let seed: Awaited<ReturnType<typeof seedOrganization>>

  const target = async () => {
    const found = await temporary.store.policySource.loadProjectTarget(
      seed.organizationId,
      seed.project.verificationHash,
    )
    if (found === null) throw new Error('no target')
    return found
  }
  /** The changes that `work` announces. */
  const announced = async (work: () => Promise<unknown>) => {
    const before = await readNewest(temporary.store.database)
    await work()
    return (await changesSince(temporary.store.database, before)).map((change) => [change.topic, change.subjectId])
  }

  beforeEach(async () => {
    seed = await seedOrganization(temporary.store, 'demo')
  })

  describe('a target', () => {
    test('has the values that decisions and signatures use', async () => {
      expect(await target()).toEqual({
        id: `${seed.project.id}:1:${seed.revision.id}:2`,
        organizationId: seed.organizationId,
        projectId: seed.project.id,
        verificationHash: seed.project.verificationHash,
        policyId: seed.policy.id,
        policyName: 'demo policy',
        revisionId: seed.revision.id,
        shadowRevisionId: null,
        quorum: 1,
        lifetimeSeconds: 300,
      })
      const { policySource } = temporary.store
      const { chainName, address } = seed.binding
      expect(await policySource.loadBindingTarget(seed.organizationId, chainName, address)).toEqual(await target())
      expect(await policySource.loadBindingTarget(seed.organizationId, 'base', address)).toBeNull()
      expect(await policySource.loadProjectTarget(seed.organizationId, 'x-unknown')).toBeNull()
    })

    test('has a new id after each change of the project, the policy’s name or the active revision', async () => {
      const { store } = temporary
      const { organizationId, policy, project } = seed
      const ids = [(await target()).id]
      const next = async (topic: string, subjectId: string, work: () => Promise<unknown>) => {
        expect(await announced(work)).toEqual([[topic, subjectId]])
        ids.push((await target()).id)
      }
      await next('project', project.id, () =>
        store.projects.update(organizationId, project.id, { lifetimeSeconds: 10 }),
      )
      expect((await target()).lifetimeSeconds).toBe(10)
      await next('project', project.id, () => store.projects.update(organizationId, project.id, { name: 'renamed' }))
      expect((await target()).lifetimeSeconds).toBe(10)
      await next('policy', policy.id, () => store.policies.rename(organizationId, policy.id, 'renamed'))
      expect((await target()).policyName).toBe('renamed')

      const saved = await store.policies.saveRevision({ organizationId, policyId: policy.id, source: 'b', quorum: 3 })
      expect(saved?.number).toBe(2)
      expect((await target()).id).toBe(ids.at(-1) ?? '')
      await next('policy', policy.id, () => store.policies.activateRevision(organizationId, policy.id, saved?.id ?? ''))
      expect((await target()).quorum).toBe(3)
      // A rollback to the first revision has a new id, because caches must not reuse the old state.
      await next('policy', policy.id, () =>
        store.policies.activateRevision(organizationId, policy.id, seed.revision.id),
      )

      const other = await store.policies.create({ organizationId, name: 'other' })
      const revision = await store.policies.saveRevision({ organizationId, policyId: other.id, source: 'c', quorum: 1 })
      await store.policies.activateRevision(organizationId, other.id, revision?.id ?? '')
      await next('project', project.id, () => store.projects.update(organizationId, project.id, { policyId: other.id }))
      expect((await target()).policyId).toBe(other.id)
      expect(new Set(ids).size).toBe(ids.length)
    })

    test('is missing while its policy has no active revision', async () => {
      const { store } = temporary
      const { organizationId } = seed
      const policy = await store.policies.create({ organizationId, name: 'draft' })
      const project = await store.projects.create({ organizationId, name: 'draft', policyId: policy.id })
      expect(await store.policySource.loadProjectTarget(organizationId, project.verificationHash)).toBeNull()
    })

    test('has a lifetime from 10 s to one hour', async () => {
      const { projects } = temporary.store
      for (const lifetimeSeconds of [9, 3_601]) {
        await expect(projects.update(seed.organizationId, seed.project.id, { lifetimeSeconds })).rejects.toMatchObject({
          constraint: 'check',
        })
      }
      expect((await target()).lifetimeSeconds).toBe(300)
    })

    test('that is bound is announced with chain and address when the binding is created or removed', async () => {
      const { bindings } = temporary.store
      const subject = bindingSubject(seed.binding.chainName, seed.binding.address)
      expect(await announced(() => bindings.remove(seed.organizationId, seed.binding.id))).toEqual([
        ['binding', subject],
      ])
      const { id: _id, createdAtSeconds: _at, ...binding } = seed.binding
      expect(await announced(() => bindings.create(binding))).toEqual([['binding', subject]])
    })
  })

  describe('a revision', () => {
    test('is loaded as it was saved, with the hash of its source', async () => {
      expect(await temporary.store.policySource.loadRevision(seed.revision.id)).toEqual({
        id: seed.revision.id,
        policyId: seed.policy.id,
        number: 1,
        source: 'name: demo',
        contentHash: createHash('sha256').update('name: demo').digest('hex'),
      })
      expect(await temporary.store.policySource.loadRevision('revision_unknown')).toBeNull()
    })

    test('is numbered in the order of saves, and the newest is listed first', async () => {
      const { policies } = temporary.store
      const { organizationId, policy } = seed
      await Promise.all(
        ['b', 'c', 'd'].map((source) =>
          policies.saveRevision({ organizationId, policyId: policy.id, source, quorum: 1 }),
        ),
      )
      const revisions = await allRevisions({ policies }, organizationId, policy.id)
      expect(revisions.map((revision) => revision.number)).toEqual([4, 3, 2, 1])
      expect((await policies.find(organizationId, policy.id))?.revisionCount).toBe(4)
    })
  })

  test('a project has a flag for an active revision of its policy', async () => {
    const { projects, policies } = temporary.store
    const { organizationId } = seed
    const policy = await policies.create({ organizationId, name: 'P' })
    const project = await projects.create({ organizationId, name: 'X', policyId: policy.id })
    const isActive = async () => (await projects.find(organizationId, project.id))?.policyActive
    expect([project.policyActive, await isActive()]).toEqual([false, false])
    const input = { organizationId, policyId: policy.id, source: 'name: P', quorum: 1 }
    const revision = await policies.saveRevision(input)
    expect(await isActive()).toBe(false)
    await policies.activateRevision(organizationId, policy.id, revision!.id)
    expect((await projects.list(organizationId)).map(({ policyActive }) => policyActive)).toEqual([true, true])
    const renamed = await projects.update(organizationId, project.id, { name: 'Y' })
    expect(renamed).toMatchObject({ name: 'Y', policyActive: true })
  })

  describe('a shadow revision', () => {
    const save = async () => {
      const input = { organizationId: seed.organizationId, policyId: seed.policy.id, source: 'name: P', quorum: 1 }
      const next = await temporary.store.policies.saveRevision(input)
      if (next === null) throw new Error('not saved')
      return next
    }

    test('is part of the target until it ends or is activated', async () => {
      const { policies } = temporary.store
      const { organizationId, revision } = seed
      const [policyId, next, before] = [seed.policy.id, await save(), await target()]
      const shadow = () => policies.shadowRevision(organizationId, policyId, next.id)
      expect(await shadow()).toMatchObject({ activeRevisionId: revision.id, shadowRevisionId: next.id })
      const shadowed = await target()
      expect(shadowed).toMatchObject({ revisionId: revision.id, shadowRevisionId: next.id })
      expect(shadowed.id).not.toBe(before.id)
      expect(await policies.endShadow(organizationId, policyId)).toMatchObject({ shadowRevisionId: null })
      expect(await target()).toMatchObject({ shadowRevisionId: null })
      await shadow()
      await policies.activateRevision(organizationId, policyId, next.id)
      expect(await target()).toMatchObject({ revisionId: next.id, shadowRevisionId: null })
      // A rollback keeps a different shadow.
      await shadow()
      await policies.activateRevision(organizationId, policyId, revision.id)
      expect(await target()).toMatchObject({ revisionId: revision.id, shadowRevisionId: next.id })
    })

    test('belongs to the policy and its organization', async () => {
      const { store } = temporary
      const [{ organizationId }, policyId, next] = [seed, seed.policy.id, await save()]
      const other = await seedOrganization(store, 'other')
      expect(await store.policies.shadowRevision(organizationId, policyId, other.revision.id)).toBeNull()
      expect(await store.policies.shadowRevision(organizationId, policyId, 'revision_gone')).toBeNull()
      expect(await store.policies.shadowRevision(other.organizationId, policyId, next.id)).toBeNull()
      expect(await store.policies.endShadow(other.organizationId, policyId)).toBeNull()
      expect(await store.policies.find(organizationId, policyId)).toMatchObject({ shadowRevisionId: null })
    })
  })

  test('a status change of an attester is announced, and retirement is final', async () => {
    const { attesters } = temporary.store
    const input = { kind: 'ed25519', address: 'address', keystoreFile: 'a.pem' } as const
    let id = ''
    const add = async () => {
      id = (await attesters.add(input)).id
    }
    expect(await announced(add)).toEqual([['attester', id]])
    await expect(attesters.add(input)).rejects.toMatchObject({ constraint: 'unique' })
    for (const status of ['retiring', 'active'] as const) {
      expect((await attesters.setStatus(id, status))?.status).toBe(status)
    }
    expect(await announced(() => attesters.setStatus(id, 'retired'))).toEqual([['attester', id]])
    expect(await announced(() => attesters.setStatus(id, 'active'))).toEqual([])
    expect(await attesters.list()).toMatchObject([{ ...input, id, status: 'retired' }])
    expect(await attesters.setStatus('attester_unknown', 'active')).toBeNull()
  })
})
