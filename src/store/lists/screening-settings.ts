// An organization's settings for screening: the lowest score of a hit, the lists and screeners that wallets are looked up
// in, and what a new hit does to a verified session.
import type { HitAction, ScreeningSettings, ScreeningSettingsOfAll } from '../../domain/screening-hit.ts'
import type { TableScope } from '../copy/table-scope.ts'

interface SettingsRow {
  readonly organization_id: string
  readonly threshold: number | null
  readonly on_new_hit: HitAction | null
  readonly address_lists: string | null
  readonly screeners: string | null
  readonly screener_score: number | null
  readonly screeners_again: number | null
}

const SELECT = `SELECT organization_id, threshold, on_new_hit, address_lists, screeners, screener_score,
  screeners_again FROM screening_settings`

const DEFAULTS: ScreeningSettings = {
  threshold: null,
  onNewHit: 'review',
  addressLists: null,
  screeners: null,
  screenerScore: null,
  screenersAgain: false,
}

const namesIn = (text: string | null): readonly string[] | null =>
  text === null ? null : (JSON.parse(text) as string[])
const textOf = (names: readonly string[] | null): string | null => (names === null ? null : JSON.stringify(names))

const toSettings = (row: SettingsRow): ScreeningSettings => ({
  threshold: row.threshold,
  onNewHit: row.on_new_hit ?? DEFAULTS.onNewHit,
  addressLists: namesIn(row.address_lists),
  screeners: namesIn(row.screeners),
  screenerScore: row.screener_score,
  screenersAgain: row.screeners_again === 1,
})

export const createScreeningSettingsTable = (scope: TableScope) => ({
  /** The defaults where the organization has set nothing. */
  read: async (organizationId: string): Promise<ScreeningSettings> => {
    const [row] = await scope.statements.query<SettingsRow>(`${SELECT} WHERE organization_id = ?`, [organizationId])
    return row === undefined ? DEFAULTS : toSettings(row)
  },

  /** @param organizationId null: of all */
  readAll: async (organizationId: string | null): Promise<ScreeningSettingsOfAll> => {
    const rows =
      organizationId === null
        ? await scope.statements.query<SettingsRow>(`${SELECT} ORDER BY organization_id`)
        : await scope.statements.query<SettingsRow>(`${SELECT} WHERE organization_id = ?`, [organizationId])
    const byOrganization = new Map(rows.map((row) => [row.organization_id, toSettings(row)]))
    return {
      of: (id) => byOrganization.get(id) ?? DEFAULTS,
      key: JSON.stringify([...byOrganization]),
    }
  },

  set: (organizationId: string, settings: ScreeningSettings): Promise<void> =>
    scope.write(async (transaction) => {
      const { threshold, onNewHit, addressLists, screeners, screenerScore, screenersAgain } = settings
      await transaction.execute(
        `INSERT INTO screening_settings (organization_id, threshold, on_new_hit, address_lists, screeners, screener_score,
           screeners_again) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (organization_id) DO UPDATE SET threshold = excluded.threshold, on_new_hit = excluded.on_new_hit,
           address_lists = excluded.address_lists, screeners = excluded.screeners,
           screener_score = excluded.screener_score, screeners_again = excluded.screeners_again`,
        [
          organizationId,
          threshold,
          onNewHit,
          textOf(addressLists),
          textOf(screeners),
          screenerScore,
          screenersAgain ? 1 : 0,
        ],
      )
    }),
})
