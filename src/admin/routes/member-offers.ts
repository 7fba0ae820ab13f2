// Accepting an offer requires the link's code: others may have created an account for this email address.
import { isoTime } from '../../lib/time.ts'
import type { MembershipOffer } from '../../store/accounts/membership-offers.ts'
import type { Tables } from '../../store/store.ts'
import { newOfferCode, offerLink } from '../accounts/links.ts'
import { hashToken } from '../accounts/token.ts'
import { actorId } from '../actor.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { ConflictError, CredentialWrongError, requireFound, SubjectUnknownError } from '../errors.ts'
import { LINK, OFFER, ROLE, showOffer } from '../member-shapes.ts'
import { hasRightsNow, requireRights, rightsOfMembership } from '../rights.ts'
import { declareRoutes, ORGANIZATION_ADMIN, PERSON, SecretReply, VIEWER } from '../route.ts'
import { closed, named, PAGE_QUERY, pageOf, Type, time } from '../schema.ts'
import { holderOf, makerOf, recordCreator, recordHolder } from '../second-person/approvers.ts'
import { shown } from '../shown.ts'

const route = declareRoutes('Members')
const own = declareRoutes('Account')

const OWN_OFFER = named(
  'OwnOffer',
  closed({
    id: Type.String(),
    organization_id: Type.String(),
    organization_name: Type.String(),
    role: ROLE,
    asked_by_name: Type.String(),
    created_at: time(),
    expires_at: time(),
  }),
)

const requireOffer = async (tables: Tables, organizationId: string, offerId: string): Promise<MembershipOffer> =>
  requireFound(await tables.membershipOffers.find(organizationId, offerId), 'offer')

const seenOffer = ({ id, email }: MembershipOffer) => ({
  subject: id,
  name: `${email} (invited)`,
})

export const MEMBER_OFFER_ROUTES = [
  route('listMemberOffers', 'GET', '/organizations/{organization}/member-offers', {
    access: VIEWER,
    summary: 'List open membership offers, oldest first',
    description: 'Declined, withdrawn and expired offers are not listed. Offers expire after one week.',
    query: Type.Object(PAGE_QUERY),
    answer: pageOf(OFFER),
    handle: async ({ services, organization, query }) =>
      pageAnswer(
        await services.store.membershipOffers.page(organization.id, pageRequest(query, ['number', 'string'])),
        showOffer,
      ),
  }),
  route('changeMemberOffer', 'PATCH', '/organizations/{organization}/member-offers/{offer}', {
    access: ORGANIZATION_ADMIN,
    summary: 'Change the role of an offer',
    fresh: ({ role }) => role === 'organization-admin',
    body: closed({ role: ROLE }),
    answer: OFFER,
    secondPerson: {
      action: 'member.role',
      see: async (tables, { organization, params, body }) => {
        const offer = await requireOffer(tables, organization.id, params.offer)
        return { ...seenOffer(offer), changes: [{ what: 'role', before: offer.role, after: body.role }] }
      },
    },
    handle: ({ services, organization, actor, params, body, write }) =>
      write(async (tables, note) => {
        const { role } = body
        await requireRights(tables, actor, services.clock, rightsOfMembership(organization.id, role))
        const before = await requireOffer(tables, organization.id, params.offer)
        if (!(await tables.membershipOffers.setRole(organization.id, before.id, role))) {
          throw new SubjectUnknownError('offer')
        }
        if (before.role !== role) {
          await recordCreator(tables, await makerOf(tables, actorId(actor)), before.userId, organization.id)
        }
        note({ action: 'member.ask', subject: before.id, detail: { email: before.email, role: [before.role, role] } })
        return showOffer({ ...before, role })
      }),
  }),
  route('withdrawMemberOffer', 'DELETE', '/organizations/{organization}/member-offers/{offer}', {
    access: ORGANIZATION_ADMIN,
    alone: 'offer',
    summary: 'Withdraw an offer',
    handle: async ({ organization, params, write }) => {
      await write(async (tables, note) => {
        const offer = await requireOffer(tables, organization.id, params.offer)
        if (!(await tables.membershipOffers.withdraw(organization.id, offer.id))) throw new SubjectUnknownError('offer')
        note({ action: 'member.ask-withdraw', subject: offer.id, detail: { email: offer.email, role: offer.role } })
      })
      return undefined
    },
  }),
  route('renewMemberOffer', 'POST', '/organizations/{organization}/member-offers/{offer}/link', {
    access: ORGANIZATION_ADMIN,
    command: { name: 'member-offer renew' },
    summary: 'Create a new link for an offer',
    fresh: true,
    description: 'The previous link stops working. The offer is valid for another week.',
    body: closed({}),
    answer: LINK,
    secondPerson: {
      action: 'member.invite',
      // The actor receives the link and could accept the offer with a second account.
      needs: () => 'person',
      see: async (tables, { organization, params }) => ({
        ...seenOffer(await requireOffer(tables, organization.id, params.offer)),
        changes: [],
      }),
    },
    handle: ({ services, organization, actor, params, write }) =>
      write(async (tables, note) => {
        const { userId } = await requireOffer(tables, organization.id, params.offer)
        await recordCreator(tables, await makerOf(tables, actorId(actor)), userId, organization.id)
        const code = newOfferCode(services.clock)
        const { hash, expiresAtSeconds } = code
        const renewed = { linkHolder: actorId(actor), expiresAtSeconds }
        if (!(await tables.membershipOffers.renew(organization.id, params.offer, hash, renewed))) {
          throw new SubjectUnknownError('offer')
        }
        note({ action: 'member.ask-again', subject: params.offer })
        const { url } = offerLink(services.origins.url, params.offer, code)
        const link = { url, expires_at: isoTime(expiresAtSeconds) }
        return new SecretReply(200, link, { ...link, url: '' })
      }),
  }),

  own('listOwnOffers', 'GET', '/me/offers', {
    access: PERSON,
    summary: 'List the caller’s membership offers, newest first',
    answer: closed({ data: Type.Array(OWN_OFFER) }),
    handle: async ({ services, actor }) => ({
      data: (await services.store.membershipOffers.listOf(actor.user.id)).map((offer) => shown(OWN_OFFER, offer)),
    }),
  }),
  own('acceptOffer', 'POST', '/me/offers/{offer}/accept', {
    access: PERSON,
    alone: 'offer',
    summary: 'Accept a membership offer',
    description:
      'Requires the code from the link that the organization’s admin sent, because signing in to an account with this email address does not prove that the caller is the intended person.',
    body: closed({ code: Type.String({ minLength: 1, maxLength: 100 }) }),
    errors: [401, 409],
    handle: async ({ services, actor, params, body, write }) => {
      await write(async (tables, note) => {
        const taken = await tables.membershipOffers.take(actor.user.id, params.offer, hashToken(body.code))
        if (taken === null) throw new CredentialWrongError('link')
        const { organizationId, role, askedBy, linkHolder } = taken
        // The offer may be to another account of an administrator who has since been removed.
        const needed = rightsOfMembership(organizationId, 'organization-admin')
        if (!(await hasRightsNow(tables, services.clock, linkHolder, needed))) {
          throw new ConflictError(
            'the creator of this link is no longer an administrator: ask the organization for a new link',
          )
        }
        await tables.memberships.add(organizationId, actor.user.id, role)
        // For approvals, the two accounts don't count as two people.
        await recordCreator(tables, await makerOf(tables, askedBy), actor.user.id, organizationId)
        await recordHolder(tables, await holderOf(tables, linkHolder), actor.user.id, organizationId)
        note({
          action: 'member.accept',
          subject: actor.user.id,
          detail: { email: actor.user.email, role, offer: params.offer, asked_by: askedBy },
          organizationId,
        })
      })
      return undefined
    },
  }),
  own('declineOffer', 'POST', '/me/offers/{offer}/decline', {
    access: PERSON,
    alone: 'offer',
    summary: 'Decline a membership offer',
    body: closed({}),
    handle: async ({ actor, params, write }) => {
      await write(async (tables, note) => {
        const taken = requireFound(await tables.membershipOffers.take(actor.user.id, params.offer, null), 'offer')
        const { organizationId, role } = taken
        note({ action: 'member.decline', subject: params.offer, detail: { role }, organizationId })
      })
      return undefined
    },
  }),
]
