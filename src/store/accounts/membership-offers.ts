// Offers of a membership to people who have an account. Taking one up needs the code that the organization handed over and
// a session of that account: nobody else has both. An expired offer is treated as if it did not exist.

import { newIdentifier } from '../../domain/identifier.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { type Page, type PageRequest, queryPage } from '../paging.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import { sweepRows } from '../sweep.ts'
import type { OrganizationRole } from './role.ts'

export interface MembershipOffer {
  readonly id: string
  readonly organizationId: string
  readonly organizationName: string
  readonly userId: string
  /** Email address of the account that gets the offer. */
  readonly email: string
  readonly role: OrganizationRole
  /** Who asked, as the audit log names them. */
  readonly askedBy: string
  readonly askedByName: string
  readonly createdAtSeconds: number
  readonly expiresAtSeconds: number
}

type OfferRow = RowOf<MembershipOffer>

const SELECT = `SELECT membership_offers.id, membership_offers.organization_id, organizations.name AS organization_name,
    membership_offers.user_id, users.email, membership_offers.role, membership_offers.asked_by,
    membership_offers.asked_by_name, membership_offers.created_at_seconds, membership_offers.expires_at_seconds
  FROM membership_offers JOIN organizations ON organizations.id = membership_offers.organization_id
    JOIN users ON users.id = membership_offers.user_id`

export const createMembershipOfferTable = (scope: TableScope) => {
  const find = async (organizationId: string, offerId: string): Promise<MembershipOffer | null> => {
    const [row] = await scope.statements.query<OfferRow>(
      `${SELECT} WHERE membership_offers.organization_id = ? AND membership_offers.id = ?
         AND membership_offers.expires_at_seconds > ?`,
      [organizationId, offerId, scope.nowSeconds()],
    )
    return row === undefined ? null : fieldsOf(row)
  }

  const change = (set: string, parameters: readonly (string | number | Uint8Array)[], by: readonly [string, string]) =>
    scope.write(
      async (transaction): Promise<boolean> =>
        (await transaction.execute(
          `UPDATE membership_offers SET ${set} WHERE organization_id = ? AND id = ? AND expires_at_seconds > ?`,
          [...parameters, ...by, scope.nowSeconds()],
        )) === 1,
    )

  return {
    /** Null when the offer is another organization's, or has expired. */
    find,

    /** Makes an offer and deletes the organization's earlier offer to the same account. Returns its id. */
    make: (
      offer: Pick<
        MembershipOffer,
        'organizationId' | 'userId' | 'role' | 'askedBy' | 'askedByName' | 'expiresAtSeconds'
      >,
      codeHash: Uint8Array,
    ): Promise<string> =>
      scope.write(async (transaction) => {
        const id = newIdentifier('offer')
        await transaction.execute('DELETE FROM membership_offers WHERE organization_id = ? AND user_id = ?', [
          offer.organizationId,
          offer.userId,
        ])
        await transaction.execute(
          `INSERT INTO membership_offers (id, organization_id, user_id, role, code_hash, asked_by, asked_by_name,
             created_at_seconds, expires_at_seconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          [
            id,
            offer.organizationId,
            offer.userId,
            offer.role,
            codeHash,
            offer.askedBy,
            offer.askedByName,
            scope.nowSeconds(),
            offer.expiresAtSeconds,
          ],
        )
        return id
      }),

    /** Open ones of an organization, oldest first. */
    page: (organizationId: string, page: PageRequest): Promise<Page<MembershipOffer>> =>
      queryPage<OfferRow, MembershipOffer>(
        scope.statements,
        {
          select: SELECT,
          where: ['membership_offers.organization_id = ?', 'membership_offers.expires_at_seconds > ?'],
          parameters: [organizationId, scope.nowSeconds()],
          order: ['membership_offers.created_at_seconds', 'membership_offers.id'],
        },
        page,
        fieldsOf,
      ),

    /** Open ones that were made to an account, of all organizations, newest first. */
    listOf: async (userId: string): Promise<readonly MembershipOffer[]> =>
      (
        await scope.statements.query<OfferRow>(
          `${SELECT} WHERE membership_offers.user_id = ? AND membership_offers.expires_at_seconds > ?
           ORDER BY membership_offers.created_at_seconds DESC, membership_offers.id`,
          [userId, scope.nowSeconds()],
        )
      ).map(fieldsOf),

    /** False when there is no such offer any more. */
    setRole: (organizationId: string, offerId: string, role: OrganizationRole) =>
      change('role = ?', [role], [organizationId, offerId]),

    /** Sets another code and another expiry; the earlier code stops working. False when there is no such offer any more. */
    renew: (organizationId: string, offerId: string, codeHash: Uint8Array, expiresAtSeconds: number) =>
      change('code_hash = ?, expires_at_seconds = ?', [codeHash, expiresAtSeconds], [organizationId, offerId]),

    /** False when there is none. */
    withdraw: (organizationId: string, offerId: string): Promise<boolean> =>
      scope.write(
        async (transaction) =>
          (await transaction.execute('DELETE FROM membership_offers WHERE organization_id = ? AND id = ?', [
            organizationId,
            offerId,
          ])) === 1,
      ),

    /** Deletes all offers of an organization. @returns how many */
    withdrawAll: (organizationId: string): Promise<number> =>
      scope.write((transaction) =>
        transaction.execute('DELETE FROM membership_offers WHERE organization_id = ?', [organizationId]),
      ),

    /**
     * Ends an offer that was made to this account: to take it up with its code, or to decline it without one.
     * @returns the offer; null when there is none, the code is wrong or the offer has expired. When two calls come at once,
     * one gets it.
     */
    take: (
      userId: string,
      offerId: string,
      codeHash: Uint8Array | null,
    ): Promise<Pick<MembershipOffer, 'organizationId' | 'role' | 'askedBy'> | null> =>
      scope.write(async (transaction) => {
        const [row] = await transaction.query<Pick<OfferRow, 'organization_id' | 'role' | 'asked_by'>>(
          `DELETE FROM membership_offers WHERE user_id = ? AND id = ? AND expires_at_seconds > ?
             ${codeHash === null ? '' : 'AND code_hash = ?'} RETURNING organization_id, role, asked_by`,
          [userId, offerId, scope.nowSeconds(), ...(codeHash === null ? [] : [codeHash])],
        )
        return row === undefined ? null : { organizationId: row.organization_id, role: row.role, askedBy: row.asked_by }
      }),

    /** Deletes a batch of expired offers. @returns how many: call again until it is 0 */
    sweep: (): Promise<number> =>
      scope.write((transaction) =>
        sweepRows(transaction, 'membership_offers', 'id', 'expires_at_seconds <= ?', scope.nowSeconds()),
      ),
  }
}
