import type { Level } from '../../domain/level.ts'
import { integer, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { defineTable } from '../table.ts'

const AGES = defineTable('minimum_ages', { organizationId: text, level: typed<Level>(), years: integer })

export interface MinimumAges {
  readonly years: number | null
  readonly levels: ReadonlyMap<Level, number>
}

const readIn = async (
  { statements }: TableScope,
  organizationId: string | null,
): Promise<ReadonlyMap<string, MinimumAges>> => {
  const [ofOne, alsoOfOne, parameters] =
    organizationId === null
      ? ['', '', []]
      : ['AND id = ?', 'WHERE organization_id = ?', [organizationId, organizationId]]
  const rows = await statements.query<{ id: string; level: Level | 0; years: number }>(
    `SELECT id, 0 AS level, minimum_age AS years FROM organizations WHERE minimum_age IS NOT NULL ${ofOne}
     UNION ALL SELECT organization_id, level, years FROM minimum_ages ${alsoOfOne}`,
    parameters,
  )
  return new Map(
    [...Map.groupBy(rows, ({ id }) => id)].map(([id, ages]) => [
      id,
      {
        years: ages.find(({ level }) => level === 0)?.years ?? null,
        levels: new Map(ages.flatMap(({ level, years }) => (level === 0 ? [] : [[level, years]]))),
      },
    ]),
  )
}

export const createMinimumAgeTable = (scope: TableScope) => ({
  read: async (organizationId: string): Promise<MinimumAges> =>
    (await readIn(scope, organizationId)).get(organizationId) ?? { years: null, levels: new Map() },

  /**
   * Returns minimum ages by organization; omits organizations without any. @param organizationId null for all
   * organizations
   */
  readAll: (organizationId: string | null): Promise<ReadonlyMap<string, MinimumAges>> => readIn(scope, organizationId),

  /** @param level null for all levels without their own minimum age @param years 1 to 99, or null for no minimum */
  set: (organizationId: string, level: Level | null, years: number | null): Promise<void> =>
    scope.write(async (transaction) => {
      if (level === null) {
        await transaction.execute('UPDATE organizations SET minimum_age = ? WHERE id = ?', [years, organizationId])
      } else if (years === null) await AGES.removeAll(transaction, { organizationId, level })
      else await AGES.put(transaction, { organizationId, level }, { years })
    }),
})
