import { flag, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { DEPLOYMENT, readValue } from '../deployment.ts'
import { defineTable } from '../table.ts'

/** Names of the deployment's settings: second person for attester keys, second factor for all accounts. */
const DEPLOYMENT_SECOND_PERSON = 'second_person_attesters'
const DEPLOYMENT_SECOND_FACTOR = 'require_second_factor'

const SETTINGS = defineTable('organization_settings', {
  organizationId: text,
  secondPerson: flag,
  requireSecondFactor: flag,
})

export const createOrganizationSettingsTable = (scope: TableScope) => ({
  read: async (organizationId: string) => ({
    secondPerson: (await SETTINGS.find(scope, { organizationId }))?.secondPerson ?? false,
  }),

  listSecondPerson: async (): Promise<readonly string[]> => {
    const settings = await SETTINGS.everywhere.list(scope, { secondPerson: true }, ['organizationId'])
    return settings.map(({ organizationId }) => organizationId)
  },

  setSecondPerson: (organizationId: string, secondPerson: boolean): Promise<void> =>
    SETTINGS.put(scope, { organizationId }, { secondPerson }),

  readDeploymentSecondPerson: async (): Promise<boolean> =>
    (await readValue(scope, DEPLOYMENT_SECOND_PERSON)) === 'true',

  setDeploymentSecondPerson: (secondPerson: boolean): Promise<void> =>
    DEPLOYMENT.put(scope, { name: DEPLOYMENT_SECOND_PERSON }, { value: String(secondPerson) }),

  readSecondFactorRules: async () => {
    const rows = await scope.query<{ id: string }>(
      `SELECT '' AS id FROM deployment WHERE name = ? AND value = 'true'
       UNION ALL SELECT organization_id AS id FROM organization_settings WHERE require_second_factor = 1`,
      [DEPLOYMENT_SECOND_FACTOR],
    )
    const ids = rows.map(({ id }) => id)
    return { deployment: ids.includes(''), organizationIds: ids.filter((id) => id !== '') }
  },

  /** Returns the previous value. @param organizationId null for the deployment */
  requireSecondFactor: (organizationId: string | null, required: boolean): Promise<boolean> =>
    scope.write(async (own) => {
      if (organizationId === null) {
        const before = await readValue(own, DEPLOYMENT_SECOND_FACTOR)
        await DEPLOYMENT.put(own, { name: DEPLOYMENT_SECOND_FACTOR }, { value: String(required) })
        return before === 'true'
      }
      const before = await SETTINGS.find(own, { organizationId })
      await SETTINGS.put(own, { organizationId }, { requireSecondFactor: required }, { secondPerson: false })
      return before?.requireSecondFactor ?? false
    }),
})
