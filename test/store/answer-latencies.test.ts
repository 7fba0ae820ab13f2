// Answer latencies by organization and quarter of an hour, added by several processes and deleted after nine days.
import { beforeEach, expect, test } from 'bun:test'
import { describeStores } from './dialects.ts'
import { storeOfTest } from './store-of-test.ts'

const QUARTER_SECONDS = 900
const DAY_SECONDS = 86_400

describeStores((open) => {
  const temporary = storeOfTest(open)
  let organizationId: string
  let otherId: string
  beforeEach(async () => {
    const create = async (slug: string) => (await temporary.store.organizations.create({ name: slug, slug })).id
    organizationId = await create('one')
    otherId = await create('other')
  })

  const add = (id: string, ...counts: [bucket: number, count: number][]) =>
    temporary.store.answerLatencies.add(id, new Map(counts))
  const all = async (id: string) =>
    (await temporary.store.answerLatencies.between(id, 0, 2e9)).map(({ atSeconds, counts }) => ({
      atSeconds,
      counts: Object.fromEntries(counts),
    }))
  const quarter = (): number => {
    const now = temporary.clock.unixSeconds()
    return now - (now % QUARTER_SECONDS)
  }

  test('simultaneous additions are summed per organization', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => add(organizationId, [7, 1], [n + 10, 2])))
    await add(otherId, [7, 5])
    const [row, ...more] = await all(organizationId)
    expect(more).toEqual([])
    expect(row?.atSeconds).toBe(quarter())
    expect(row?.counts[7]).toBe(20)
    expect(Object.keys(row?.counts ?? {})).toHaveLength(21)
    expect(await all(otherId)).toEqual([{ atSeconds: quarter(), counts: { 7: 5 } }])
  })

  test('quarters are separate, are read between two times, and are deleted after nine days', async () => {
    const first = quarter()
    await add(organizationId, [1, 1])
    temporary.clock.advance(QUARTER_SECONDS)
    await add(organizationId, [2, 1])
    expect((await all(organizationId)).map(({ atSeconds }) => atSeconds)).toEqual([first, first + QUARTER_SECONDS])
    const { between } = temporary.store.answerLatencies
    expect(await between(organizationId, first + 1, first + QUARTER_SECONDS)).toEqual([])
    expect(await between(organizationId, first, first + QUARTER_SECONDS)).toHaveLength(1)
    temporary.clock.advance(9 * DAY_SECONDS - QUARTER_SECONDS + 1 + (temporary.clock.unixSeconds() - quarter()))
    await temporary.store.upkeep.sweep()
    expect((await all(organizationId)).map(({ counts }) => counts)).toEqual([{ 2: 1 }])
  })
})
