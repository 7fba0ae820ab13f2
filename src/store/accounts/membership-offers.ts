// Offers of memberships. Accepting one requires the organization's code and a session of the account.

import { newIdentifier } from '../../domain/identifier.ts'
import { bytes, computed, hidden, integer, sql, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { requireRoom } from '../organizations/organization-limits.ts'
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
  email: computed(text, '(SELECT users.email FROM users WHERE users.id = membership_offers.user_id)'),
  role: typed<OrganizationRole>(),
  askedBy: text,
  askedByName: text,
  /** The actor who received the link with the current code, as in the audit log. */
  linkHolder: text,
  createdAtSeconds: integer,
  expiresAtSeconds: integer,
  codeHash: hidden(bytes),
})

export interface MembershipOffer extends ItemOf<typeof OFFERS> {}

export const createMembershipOfferTable = (scope: TableScope) => {
  const isOpen = () => ({ expiresAtSeconds: sql`> ${scope.nowSeconds()}` })

  return {
    find: (organizationId: string, id: string): Promise<MembershipOffer | null> =>
      OFFERS.find(scope, { organizationId, id, ...isOpen() }),

    /** Replaces an earlier offer. `askedBy` receives the link. Returns the id. @throws OrganizationLimitError */
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
        await requireRoom(own, organizationId, 'membership offers')
        const linkHolder = offer.askedBy
        await OFFERS.insert(own, { ...offer, id, linkHolder, codeHash, createdAtSeconds: scope.nowSeconds() })
        return id
      }),

    page: (organizationId: string, page: PageRequest): Promise<Page<MembershipOffer>> =>
      OFFERS.page(scope, { organizationId, ...isOpen() }, ['createdAtSeconds', 'id'], page),

    listOf: async (userId: string): Promise<readonly MembershipOffer[]> =>
      (await OFFERS.everywhere.list(scope, { userId, ...isOpen() }, ['id'])).toSorted(
        (one, other) => other.createdAtSeconds - one.createdAtSeconds,
      ),

    setRole: async (organizationId: string, id: string, role: OrganizationRole): Promise<boolean> =>
      (await OFFERS.updateAll(scope, { organizationId, id, ...isOpen() }, { role })) === 1,

    renew: async (
      organizationId: string,
      id: string,
      codeHash: Uint8Array,
      renewed: Pick<MembershipOffer, 'linkHolder' | 'expiresAtSeconds'>,
    ): Promise<boolean> =>
      (await OFFERS.updateAll(scope, { organizationId, id, ...isOpen() }, { codeHash, ...renewed })) === 1,

    withdraw: async (organizationId: string, id: string): Promise<boolean> =>
      (await OFFERS.removeAll(scope, { organizationId, id })) === 1,

    withdrawAll: (organizationId: string): Promise<number> => OFFERS.removeAll(scope, { organizationId }),

    /** Accepts an offer with its code, or declines it without one. Null if the offer is missing or the code differs. */
    take: (userId: string, id: string, codeHash: Uint8Array | null): Promise<MembershipOffer | null> =>
      OFFERS.everywhere.remove(scope, { userId, id, ...isOpen(), ...(codeHash === null ? {} : { codeHash }) }),

    sweep: (): Promise<number> => OFFERS.sweep(scope, ['id'], sql`expires_at_seconds <= ${scope.nowSeconds()}`),
  }
}
