// A project has a flag for an active revision of its policy, without which every request is refused.
import { expect, test } from 'bun:test'
import { DEMO_POLICY } from '../../src/policy/tools/templates.ts'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'

describeStores((open) => {
  const temporary = storeOfTest(open)

  test('its policy is active after the first activation', async () => {
    const { store } = temporary
    const organizationId = (await store.organizations.create({ slug: 'demo', name: 'Demo' })).id
    const policy = await store.policies.create({ organizationId, name: 'P' })
    const project = await store.projects.create({ organizationId, name: 'X', policyId: policy.id })
    expect(project.policyActive).toBe(false)
    expect(await store.projects.find(organizationId, project.id)).toEqual(project)
    const revision = await store.policies.saveRevision({
      organizationId,
      policyId: policy.id,
      source: DEMO_POLICY,
      quorum: 1,
    })
    expect((await store.projects.list(organizationId))[0]?.policyActive).toBe(false)
    await store.policies.activateRevision(organizationId, policy.id, revision!.id)
    expect((await store.projects.list(organizationId))[0]?.policyActive).toBe(true)
    expect(await store.projects.update(organizationId, project.id, { name: 'Y' })).toMatchObject({
      name: 'Y',
      policyActive: true,
    })
  })
})
