// Organizations whose verifications an organization trusts, enforced by wallet-standings.ts.
import { recordChange } from '../changes.ts'
import { integer, sql, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Statements } from '../database.ts'
import { defineTable } from '../table.ts'
import type { Organization } from './organizations.ts'

export type TrustedOrganization = Pick<Organization, 'id' | 'slug' | 'name'>

/** Sorted by slug. Null: all organizations. Empty: only the organization itself. */
export type TrustedOrganizations = readonly TrustedOrganization[] | null

export const TRUSTED_MAX = 100

const TRUSTED = defineTable('trusted_organizations', { organizationId: text, trustedId: text })
const TRUSTS = defineTable('organizations', { id: text, trusts: typed<'all' | 'listed'>(), version: integer })

export const createVerificationTrustTable = (scope: TableScope) => {
  const read = async (organizationId: string, statements: Statements): Promise<TrustedOrganizations> => {
    const organization = await TRUSTS.find(statements, { id: organizationId })
    if (organization?.trusts !== 'listed') return null
    return statements.query<TrustedOrganization>(
      `SELECT organizations.id, organizations.slug, organizations.name FROM trusted_organizations
       JOIN organizations ON organizations.id = trusted_organizations.trusted_id
       WHERE trusted_organizations.organization_id = ? ORDER BY organizations.slug`,
      [organizationId],
    )
  }
  return {
    read: (organizationId: string): Promise<TrustedOrganizations> => read(organizationId, scope.statements),

    /** @param trusted ids, at most TRUSTED_MAX; null for all @throws ConstraintViolatedError for an unknown id */
    set: (organizationId: string, trusted: readonly string[] | null): Promise<TrustedOrganizations> =>
      scope.write(async (transaction) => {
        const values = { trusts: trusted === null ? 'all' : 'listed', version: sql`version + 1` } as const
        await TRUSTS.updateAll(transaction, { id: organizationId }, values)
        await TRUSTED.removeAll(transaction, { organizationId })
        for (const trustedId of new Set(trusted ?? [])) await TRUSTED.insert(transaction, { organizationId, trustedId })
        await recordChange(
          transaction,
          { topic: 'organization', subjectId: organizationId, organizationId },
          scope.nowSeconds(),
        )
        return read(organizationId, transaction)
      }),
  }
}
