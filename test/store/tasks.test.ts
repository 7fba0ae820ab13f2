// Retention of ended jobs, in both databases.
import { beforeEach, expect, test } from 'bun:test'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'
import { seedOrganization } from './temporary-store.ts'

const KIND = 'policy.replay'
const DAY_SECONDS = 86_400

describeStores((open) => {
  const temporary = storeOfTest(open)
  let organizationId: string
  beforeEach(async () => {
    organizationId = (await seedOrganization(temporary.store, 'demo')).organizationId
  })

  const create = (
    input: Readonly<Record<string, string>> = {},
    owner: string | null = organizationId,
    result?: Readonly<Record<string, unknown>>,
  ) => temporary.store.tasks.create({ organizationId: owner, kind: KIND, input, actor: 'key:k' }, result)
  const finish = async () => {
    const { tasks } = temporary.store
    const task = await tasks.takeNext()
    if (task === null) throw new Error('no task is waiting')
    await tasks.finish(task, { state: 'done', result: {} })
    return task.id
  }

  test('an ended job is found by its hash, and its document is removed', async () => {
    const { tasks } = temporary.store
    await create({ source: 'x'.repeat(1_000), contentHash: 'abc' })
    const id = await finish()
    expect((await tasks.newestDone(organizationId, KIND, { contentHash: 'abc' }))?.id).toBe(id)
    expect((await tasks.find(organizationId, id))?.input).toEqual({ contentHash: 'abc' })
  })

  test('ended jobs are removed after 90 days, but open jobs and jobs of others are not', async () => {
    const { tasks } = temporary.store
    const old = (await create()).id
    expect(await finish()).toBe(old)
    const shared = (await create({}, null)).id
    expect(await finish()).toBe(shared)
    const open = (await create()).id
    temporary.clock.advance(90 * DAY_SECONDS)
    await create()
    expect(await tasks.find(organizationId, old)).not.toBeNull()
    temporary.clock.advance(1)
    await create()
    expect(await tasks.find(organizationId, old)).toBeNull()
    expect(await tasks.find(organizationId, open)).not.toBeNull()
    expect(await tasks.find(null, shared)).not.toBeNull()
  })

  test('at most a thousand jobs and the new one are kept', async () => {
    const { tasks } = temporary.store
    const createDone = () => create({}, organizationId, {})
    const first = (await createDone()).id
    for (let created = 1; created <= 1_000; created++) {
      temporary.clock.advance(1)
      await createDone()
    }
    expect(await tasks.find(organizationId, first)).not.toBeNull()
    await createDone()
    expect(await tasks.find(organizationId, first)).toBeNull()
  })
})
