// Times that were written while the clock was ahead do not prevent lists from being read.
import { expect, test } from 'bun:test'
import { describeStores } from './dialects.ts'
import { storeOfSuite } from './store-of-test.ts'

const DAY = 86_400

describeStores((openTemporaryStore) => {
  const temporary = storeOfSuite(openTemporaryStore)

  test('after the clock was ahead, sources are due and leases have ended', async () => {
    const { store, clock } = temporary
    const { id: listId } = await store.lists.create({ owner: null, name: 'read' })
    const source = { location: '/list.txt', format: 'text', reach: 'public', skipsBadLines: false } as const
    const screened = { name: 'people', format: 'csv', urls: ['https://lists.example'], reach: 'public' } as const
    const take = async (): Promise<readonly boolean[]> => [
      (await store.listSources.takeDue(600)) !== null,
      (await store.screeningLists.takeDue(600)) !== null,
    ]
    await store.listSources.set(listId, { ...source, intervalSeconds: 3_600 })
    await store.screeningLists.set({ ...screened, intervalSeconds: 3_600 })
    clock.step(DAY)
    const first = await store.listSources.takeDue(600)
    const list = await store.screeningLists.takeDue(600)
    if (first === null || list === null) throw new Error('nothing is due')
    await store.listSources.confirm(first, clock.unixSeconds() + 3_600)
    await store.screeningLists.confirm(list, clock.unixSeconds() + 3_600)
    expect(await take()).toEqual([false, false])
    clock.step(-30)
    // A difference between the clocks of two nodes.
    expect(await take()).toEqual([false, false])
    clock.step(30 - DAY)
    expect(await take()).toEqual([true, true])
    expect(await take()).toEqual([false, false])
    clock.step(-DAY)
    expect(await take()).toEqual([true, true])
  })
})
