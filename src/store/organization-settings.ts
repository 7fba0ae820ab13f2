// What an organization demands of its own administration.
import type { TableScope } from './table-scope.ts'

export interface OrganizationSettings {
  /** A policy's revision becomes live only when someone else approves. */
  readonly secondPerson: boolean
}

/** The deployment's own setting of the same kind, for attester keys: a value of `deployment`. */
const DEPLOYMENT_SECOND_PERSON = 'second_person_attesters'

export const createOrganizationSettingsTable = (scope: TableScope) => ({
  read: async (organizationId: string): Promise<OrganizationSettings> => {
    const [row] = await scope.statements.query<{ second_person: number }>(
      'SELECT second_person FROM organization_settings WHERE organization_id = ?',
      [organizationId],
    )
    return { secondPerson: row?.second_person === 1 }
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
})

export type OrganizationSettingsTable = ReturnType<typeof createOrganizationSettingsTable>
