import type { ServedList } from './serve-lists.ts'

export interface ListSum {
  readonly name: string
  readonly entries: number
  readonly ageSeconds: number | null
}

/** Sums the organizations' lists: total size, and age of the oldest. */
export const sumLists = (lists: readonly ServedList[]): readonly ListSum[] => {
  const own = lists.filter(({ organizationId }) => organizationId !== null)
  const ages = own.flatMap(({ ageSeconds }) => (ageSeconds === null ? [] : [ageSeconds]))
  return [
    {
      name: 'organizations',
      entries: own.reduce((sum, { entryCount }) => sum + entryCount, 0),
      ageSeconds: ages.length === 0 ? null : Math.max(...ages),
    },
    ...lists.flatMap(({ organizationId, name, entryCount, ageSeconds }) =>
      organizationId === null ? [{ name, entries: entryCount, ageSeconds }] : [],
    ),
  ]
}
