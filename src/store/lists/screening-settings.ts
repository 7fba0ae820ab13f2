import type { HitAction, ScreeningSettings, ScreeningSettingsOfAll } from '../../domain/screening-hit.ts'
import { flag, integer, json, nullable, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { defineTable } from '../table.ts'

const DEFAULTS: ScreeningSettings = {
  threshold: null,
  onNewHit: 'review',
  addressLists: null,
  screeners: null,
  screenerScore: null,
  screenersAgain: false,
}

const SETTINGS = defineTable(
  'screening_settings',
  {
    organizationId: text,
    threshold: nullable(integer),
    onNewHit: nullable(typed<HitAction>()),
    addressLists: nullable(json<readonly string[]>()),
    screeners: nullable(json<readonly string[]>()),
    screenerScore: nullable(integer),
    screenersAgain: nullable(flag),
  },
  ({ organizationId, onNewHit, screenersAgain, ...row }) => {
    const { threshold, addressLists, screeners, screenerScore } = row
    const settings: ScreeningSettings = {
      threshold,
      onNewHit: onNewHit ?? DEFAULTS.onNewHit,
      addressLists,
      screeners,
      screenerScore,
      screenersAgain: screenersAgain ?? DEFAULTS.screenersAgain,
    }
    return { organizationId, settings }
  },
)

export const createScreeningSettingsTable = (scope: TableScope) => ({
  read: async (organizationId: string): Promise<ScreeningSettings> =>
    (await SETTINGS.find(scope, { organizationId }))?.settings ?? DEFAULTS,

  /** @param organizationId null for all organizations */
  readAll: async (organizationId: string | null): Promise<ScreeningSettingsOfAll> => {
    const which = { organizationId: organizationId ?? undefined }
    const rows = await SETTINGS.everywhere.list(scope, which, ['organizationId'])
    const byOrganization = new Map(rows.map((row) => [row.organizationId, row.settings]))
    return { of: (id) => byOrganization.get(id) ?? DEFAULTS, key: JSON.stringify([...byOrganization]) }
  },

  set: (organizationId: string, settings: ScreeningSettings): Promise<void> => {
    const { threshold, onNewHit, addressLists, screeners, screenerScore, screenersAgain } = settings
    const values = { threshold, onNewHit, addressLists, screeners, screenerScore, screenersAgain }
    return SETTINGS.put(scope, { organizationId }, values)
  },
})
