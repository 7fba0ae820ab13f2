// Figures of the lists in metrics: one row for all lists of organizations, one per list of the deployment.
import { expect, test } from 'bun:test'
import { sumLists } from '../../../src/facts/lists/serve-lists.ts'

const list = (name: string, organizationId: string | null, entryCount: number, ageSeconds: number | null) => ({
  id: name,
  name,
  keptBy: 'people' as const,
  current: true,
  organizationId,
  entryCount,
  ageSeconds,
})

test('lists of organizations are summed, with the age of the oldest', () => {
  const shared = list('sanctions', null, 7, 5)
  const of = (...own: readonly ReturnType<typeof list>[]) => sumLists([shared, ...own])
  const sanctions = { name: 'sanctions', entries: 7, ageSeconds: 5 }
  const none = list('c', 'org_2', 4, null)
  expect(of(list('a', 'org_1', 2, 30), list('b', 'org_2', 3, 90), none)).toEqual([
    { name: 'organizations', entries: 9, ageSeconds: 90 },
    sanctions,
  ])
  expect(of(none)).toEqual([{ name: 'organizations', entries: 4, ageSeconds: null }, sanctions])
})
