// What an organization requires of the people who administer it.
import type { TableScope } from '../copy/table-scope.ts'

interface OrganizationSettings {
  /** A policy's revision becomes live only when someone else approves. */
  readonly secondPerson: boolean
}

/** The deployment's own settings, as values of `deployment`: the same kind for attester keys, and for everybody. */
const DEPLOYMENT_SECOND_PERSON = 'second_person_attesters'
const DEPLOYMENT_SECOND_FACTOR = 'require_second_factor'

/** Who requires a second factor of the people that they let in. */
interface SecondFactorRules {
  readonly deployment: boolean
  /** Ids. */
  readonly organizationIds: readonly string[]
}

export const createOrganizationSettingsTable = (scope: TableScope) => ({
  read: async (organizationId: string): Promise<OrganizationSettings> => {
    const [row] = await scope.statements.query<{ second_person: number }>(
      'SELECT second_person FROM organization_settings WHERE organization_id = ?',
      [organizationId],
    )
    return { secondPerson: row?.second_person === 1 }
  },

  /** Ids of the organizations whose rule is on. */
  listSecondPerson: async (): Promise<readonly string[]> => {
    const rows = await scope.statements.query<{ organization_id: string }>(
      'SELECT organization_id FROM organization_settings WHERE second_person = 1',
    )
    return rows.map((row) => row.organization_id)
  },

  setSecondPerson: (organizationId: string, secondPerson: boolean): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute(
        `INSERT INTO organization_settings (organization_id, second_person) VALUES (?, ?)
         ON CONFLICT (organization_id) DO UPDATE SET second_person = excluded.second_person`,
        [organizationId, secondPerson ? 1 : 0],
      )
    }),

  readDeploymentSecondPerson: async (): Promise<boolean> => {
    const [row] = await scope.statements.query<{ value: string }>('SELECT value FROM deployment WHERE name = ?', [
      DEPLOYMENT_SECOND_PERSON,
    ])
    return row?.value === 'true'
  },

  setDeploymentSecondPerson: (secondPerson: boolean): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute(
        'INSERT INTO deployment (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        [DEPLOYMENT_SECOND_PERSON, String(secondPerson)],
      )
    }),

  readSecondFactorRules: async (): Promise<SecondFactorRules> => {
    const rows = await scope.statements.query<{ id: string }>(
      `SELECT '' AS id FROM deployment WHERE name = ? AND value = 'true'
       UNION ALL SELECT organization_id AS id FROM organization_settings WHERE require_second_factor = 1`,
      [DEPLOYMENT_SECOND_FACTOR],
    )
    const ids = rows.map(({ id }) => id)
    return { deployment: ids.includes(''), organizationIds: ids.filter((id) => id !== '') }
  },

  /** @param organizationId null: the deployment, for everybody. Answers how it was. */
  requireSecondFactor: (organizationId: string | null, required: boolean): Promise<boolean> =>
    scope.write(async (transaction) => {
      if (organizationId === null) {
        const [row] = await transaction.query<{ value: string }>('SELECT value FROM deployment WHERE name = ?', [
          DEPLOYMENT_SECOND_FACTOR,
        ])
        await transaction.execute(
          'INSERT INTO deployment (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
          [DEPLOYMENT_SECOND_FACTOR, String(required)],
        )
        return row?.value === 'true'
      }
      const [row] = await transaction.query<{ require_second_factor: number }>(
        'SELECT require_second_factor FROM organization_settings WHERE organization_id = ?',
        [organizationId],
      )
      await transaction.execute(
        `INSERT INTO organization_settings (organization_id, second_person, require_second_factor) VALUES (?, 0, ?)
         ON CONFLICT (organization_id) DO UPDATE SET require_second_factor = excluded.require_second_factor`,
        [organizationId, required ? 1 : 0],
      )
      return row?.require_second_factor === 1
    }),
})
