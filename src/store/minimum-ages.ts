// How old an organization asks people to be, at all levels or at one of them.
import type { Level } from '../domain/level.ts'
import type { TableScope } from './table-scope.ts'

export interface MinimumAges {
  /** Where a level has none of its own; null: none is asked for. */
  readonly years: number | null
  readonly levels: ReadonlyMap<Level, number>
}

export const createMinimumAgeTable = (scope: TableScope) => ({
  read: async (organizationId: string): Promise<MinimumAges> => {
    const rows = await scope.statements.query<{ level: Level | 0; years: number | null }>(
      `SELECT 0 AS level, minimum_age AS years FROM organizations WHERE id = ?
       UNION ALL SELECT level, years FROM minimum_ages WHERE organization_id = ?`,
      [organizationId, organizationId],
    )
    return {
      years: rows.find(({ level }) => level === 0)?.years ?? null,
      levels: new Map(rows.flatMap(({ level, years }) => (level === 0 || years === null ? [] : [[level, years]]))),
    }
  },

  /**
   * @param level null: what counts where a level has none of its own
   * @param years null: none
   * @throws ConstraintViolatedError for years out of 1 to 99
   */
  set: (organizationId: string, level: Level | null, years: number | null): Promise<void> =>
    scope.write(async (transaction) => {
      if (level === null) {
        await transaction.execute('UPDATE organizations SET minimum_age = ? WHERE id = ?', [years, organizationId])
      } else if (years === null) {
        await transaction.execute('DELETE FROM minimum_ages WHERE organization_id = ? AND level = ?', [
          organizationId,
          level,
        ])
      } else {
        await transaction.execute(
          `INSERT INTO minimum_ages (organization_id, level, years) VALUES (?, ?, ?)
           ON CONFLICT (organization_id, level) DO UPDATE SET years = excluded.years`,
          [organizationId, level, years],
        )
      }
    }),
})
