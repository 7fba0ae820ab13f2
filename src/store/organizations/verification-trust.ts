// Organizations whose verifications an organization trusts in addition to its own: all, some or none. Applied by the
// statement that reads standings (wallet-standings.ts), so that one rule applies to every answer.
import { recordChange } from '../changes.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Statements } from '../database.ts'
import type { Organization } from './organizations.ts'

export type TrustedOrganization = Pick<Organization, 'id' | 'slug' | 'name'>

/** Sorted by slug. Null means all organizations; empty means only the organization itself. */
export type TrustedOrganizations = readonly TrustedOrganization[] | null

export const TRUSTED_MAX = 100

export const createVerificationTrustTable = (scope: TableScope) => {
  const read = async (organizationId: string, statements: Statements): Promise<TrustedOrganizations> => {
    const [row] = await statements.query<{ trusts: string }>('SELECT trusts FROM organizations WHERE id = ?', [
      organizationId,
    ])
    if (row?.trusts !== 'listed') return null
    return statements.query<TrustedOrganization>(
      `SELECT organizations.id, organizations.slug, organizations.name FROM trusted_organizations
       JOIN organizations ON organizations.id = trusted_organizations.trusted_id
       WHERE trusted_organizations.organization_id = ? ORDER BY organizations.slug`,
      [organizationId],
    )
  }
  return {
    read: (organizationId: string): Promise<TrustedOrganizations> => read(organizationId, scope.statements),

    /**
     * After the commit, no other organization's verification counts.
     * @param trusted ids, at most TRUSTED_MAX; null for all
     * @returns the stored value
     * @throws ConstraintViolatedError for an id of no organization
     */
    set: (organizationId: string, trusted: readonly string[] | null): Promise<TrustedOrganizations> =>
      scope.write(async (transaction) => {
        await transaction.execute('UPDATE organizations SET trusts = ?, version = version + 1 WHERE id = ?', [
          trusted === null ? 'all' : 'listed',
          organizationId,
        ])
        await transaction.execute('DELETE FROM trusted_organizations WHERE organization_id = ?', [organizationId])
        for (const id of new Set(trusted ?? [])) {
          await transaction.execute('INSERT INTO trusted_organizations (organization_id, trusted_id) VALUES (?, ?)', [
            organizationId,
            id,
          ])
        }
        await recordChange(
          transaction,
          { topic: 'organization', subjectId: organizationId, organizationId },
          scope.nowSeconds(),
        )
        return read(organizationId, transaction)
      }),
  }
}
