// Offers of a membership to people who have an account. Taking one up needs the code that the organization handed over and
// a session of that account: nobody else has both. An expired offer is treated as if it did not exist.

import { newIdentifier } from '../../domain/identifier.ts'
import { bytes, computed, hidden, integer, sql, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Page, PageRequest } from '../paging.ts'
import { defineTable, type ItemOf } from '../table.ts'
import type { OrganizationRole } from './role.ts'

const OFFERS = defineTable('membership_offers', {
  id: text,
  organizationId: text,
  organizationName: computed(
    text,
    '(SELECT organizations.name FROM organizations WHERE organizations.id = membership_offers.organization_id)',
  ),
  userId: text,
  /** Email address of the account that gets the offer. */
  email: computed(text, '(SELECT users.email FROM users WHERE users.id = membership_offers.user_id)'),
  role: typed<OrganizationRole>(),
  /** Who asked, as the audit log names them. */
  askedBy: text,
  askedByName: text,
  createdAtSeconds: integer,
  expiresAtSeconds: integer,
  codeHash: hidden(bytes),
})

export interface MembershipOffer extends ItemOf<typeof OFFERS> {}

export const createMembershipOfferTable = (scope: TableScope) => {
  const isOpen = () => ({ expiresAtSeconds: sql`> ${scope.nowSeconds()}` })

  return {
    /** Null when the offer is another organization's, or has expired. */
    find: (organizationId: string, id: string): Promise<MembershipOffer | null> =>
      OFFERS.find(scope, { organizationId, id, ...isOpen() }),

    /** Makes an offer and deletes the organization's earlier offer to the same account. Returns its id. */
    make: (
      offer: Pick<
        MembershipOffer,
        'organizationId' | 'userId' | 'role' | 'askedBy' | 'askedByName' | 'expiresAtSeconds'
      >,
      codeHash: Uint8Array,
    ): Promise<string> =>
      scope.write(async (own) => {
        const id = newIdentifier('offer')
        const { organizationId, userId } = offer
        await OFFERS.removeAll(own, { organizationId, userId })
        await OFFERS.insert(own, { ...offer, id, codeHash, createdAtSeconds: scope.nowSeconds() })
        return id
      }),

    /** Open ones of an organization, oldest first. */
    page: (organizationId: string, page: PageRequest): Promise<Page<MembershipOffer>> =>
      OFFERS.page(scope, { organizationId, ...isOpen() }, ['createdAtSeconds', 'id'], page),

    /** Open ones that were made to an account, of all organizations, newest first. */
    listOf: async (userId: string): Promise<readonly MembershipOffer[]> =>
      (await OFFERS.everywhere.list(scope, { userId, ...isOpen() }, ['id'])).toSorted(
        (one, other) => other.createdAtSeconds - one.createdAtSeconds,
      ),

    /** False when there is no such offer any more. */
    setRole: async (organizationId: string, id: string, role: OrganizationRole): Promise<boolean> =>
      (await OFFERS.updateAll(scope, { organizationId, id, ...isOpen() }, { role })) === 1,

    /** Sets another code and another expiry; the earlier code stops working. False when there is no such offer any more. */
    renew: async (
      organizationId: string,
      id: string,
      codeHash: Uint8Array,
      expiresAtSeconds: number,
    ): Promise<boolean> =>
      (await OFFERS.updateAll(scope, { organizationId, id, ...isOpen() }, { codeHash, expiresAtSeconds })) === 1,

    /** False when there is none. */
    withdraw: async (organizationId: string, id: string): Promise<boolean> =>
      (await OFFERS.removeAll(scope, { organizationId, id })) === 1,

    /** Deletes all offers of an organization. @returns how many */
    withdrawAll: (organizationId: string): Promise<number> => OFFERS.removeAll(scope, { organizationId }),

    /**
     * Ends an offer that was made to this account: to take it up with its code, or to decline it without one.
     * @returns the offer; null when there is none, the code is wrong or the offer has expired. When two calls come at once,
     * one gets it.
     */
    take: (userId: string, id: string, codeHash: Uint8Array | null): Promise<MembershipOffer | null> =>
      OFFERS.everywhere.remove(scope, { userId, id, ...isOpen(), ...(codeHash === null ? {} : { codeHash }) }),

    /** Deletes a batch of expired offers. @returns how many: call again until it is 0 */
    sweep: (): Promise<number> => OFFERS.sweep(scope, ['id'], sql`expires_at_seconds <= ${scope.nowSeconds()}`),
  }
}
