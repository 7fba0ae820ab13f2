// Approvals by a second person: decided once and in time, in both databases.
import { beforeEach, expect, test } from 'bun:test'
import type { ListedApproval } from '../../src/store/accounts/approvals.ts'
import { PAGE_BYTES_MAX, type Page, type PagePosition } from '../../src/store/paging.ts'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'
import { seedOrganization } from './temporary-store.ts'

describeStores((open) => {
  const temporary = storeOfTest(open)
  let organizationId: string
  let people: readonly string[]
  beforeEach(async () => {
    const { store } = temporary
    organizationId = (await seedOrganization(store, 'demo')).organizationId
    const create = async (name: string): Promise<string> =>
      (await store.users.create({ email: `${name}@example.com`, name, deploymentAdmin: false, passwordHash: null })).id
    people = [await create('ada'), await create('bob'), await create('cleo')]
  })

  const request = async (lifeSeconds = 60): Promise<string> =>
    (
      await temporary.store.approvals.request({
        organizationId,
        action: 'policy.activate',
        subject: 'policy_1',
        detail: {},
        request: {},
        lifeSeconds,
        requestedBy: people[0] ?? '',
      })
    ).id
  const decide = (id: string, state: 'approved' | 'rejected', by = 1) =>
    temporary.store.approvals.decide(organizationId, id, state, people[by] ?? '')

  test('only one of several simultaneous decisions counts', async () => {
    const id = await request()
    const results = await Promise.all([decide(id, 'approved', 1), decide(id, 'rejected', 2), decide(id, 'approved', 2)])
    const [counted] = results.filter((result) => result !== null)
    expect(results.filter((result) => result === null)).toHaveLength(2)
    expect(await temporary.store.approvals.find(organizationId, id)).toEqual(counted ?? null)
    expect(await decide(id, 'rejected')).toBeNull()
  })

  test('an approval cannot be decided once it has expired', async () => {
    const [late, inTime] = [await request(60), await request(61)]
    temporary.clock.advance(60)
    expect(await decide(late, 'approved')).toBeNull()
    expect((await temporary.store.approvals.find(organizationId, late))?.state).toBe('expired')
    expect((await decide(inTime, 'approved'))?.state).toBe('approved')
  })

  test('a page with large details is short, and the next one continues', async () => {
    const { approvals } = temporary.store
    const create = (length: number) =>
      approvals.request({
        organizationId,
        action: 'list.entries',
        subject: 'list',
        detail: { text: 'ä'.repeat(length) },
        request: { body: 'x'.repeat(PAGE_BYTES_MAX) },
        lifeSeconds: 60,
        requestedBy: people[0] ?? '',
      })
    // One approval is larger than a page.
    for (const length of [150_000, 150_000, 150_000, 150_000, 600_000, 10]) await create(length)
    const sizes: number[] = []
    let after: PagePosition | null = null
    do {
      const { items, next }: Page<ListedApproval> = await approvals.page({ organizationId }, { after, limit: 200 })
      sizes.push(items.length)
      for (const item of items) expect(item).not.toHaveProperty('request')
      const bytes = Buffer.byteLength(items.map(({ detail }) => JSON.stringify(detail)).join(''))
      expect(items.length === 1 || bytes <= PAGE_BYTES_MAX).toBe(true)
      after = next
    } while (after !== null)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(6)
    expect(Math.max(...sizes)).toBeGreaterThanOrEqual(3)
  })

  test('pending approvals of one administrator do not use up the limit of another', async () => {
    const { approvals } = temporary.store
    const what = { organizationId, action: 'x', subject: 'x', detail: {}, request: {}, lifeSeconds: 60 }
    const [ada = '', bob = ''] = people
    const ids = await Promise.all(
      Array.from({ length: 200 }, async () => (await approvals.request({ ...what, requestedBy: ada })).id),
    )
    await expect(approvals.request({ ...what, requestedBy: ada })).rejects.toThrow('reject one of your requests first')
    await approvals.request({ ...what, requestedBy: bob })
    await decide(ids[0] ?? '', 'rejected', 0)
    await approvals.request({ ...what, requestedBy: ada })
  })
})
