// An invitation sets the password of a new account; an offer is for an existing account.
import { isoTime } from '../../lib/time.ts'
import type { MembershipOffer } from '../../store/accounts/membership-offers.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Tables } from '../../store/store.ts'
import { type Actor, actorId, actorName } from '../actor.ts'
import { requireFound } from '../errors.ts'
import { holderOf } from '../second-person/approvers.ts'
import type { Services } from '../services.ts'
import { makeLink, newOfferCode, offerLink } from './links.ts'

export const requireAccount = async (tables: Tables, userId: string): Promise<User> =>
  requireFound(await tables.users.find(userId), 'account')

/**
 * Returns true if the organization created the account, and the account is unused and has no rights elsewhere.
 * @param user locked row
 */
export const mayInvite = async (tables: Tables, organizationId: string, user: User): Promise<boolean> => {
  if (user.hasPassword || user.deploymentAdmin || user.madeByOrganizationId !== organizationId) return false
  const roles = await tables.memberships.rolesOf(user.id)
  return [...roles.keys()].every((id) => id === organizationId)
}

export const invite = async (
  tables: Tables,
  { services, actor, isApproved }: { readonly services: Services; readonly actor: Actor; readonly isApproved: boolean },
  user: User,
) => {
  const holder = isApproved ? null : await holderOf(tables, actorId(actor))
  const account = { userId: user.id, holder }
  const link = await makeLink(tables, services.clock, services.origins.url, 'invitation', account)
  return { url: link.url, expires_at: isoTime(link.expiresAtSeconds) }
}

export const offerMembership = async (
  tables: Tables,
  services: Services,
  actor: Actor,
  wanted: Pick<MembershipOffer, 'organizationId' | 'userId' | 'role'>,
) => {
  const code = newOfferCode(services.clock)
  const { expiresAtSeconds } = code
  const asked = { ...wanted, askedBy: actorId(actor), askedByName: actorName(actor), expiresAtSeconds }
  const id = await tables.membershipOffers.make(asked, code.hash)
  const offer = await tables.membershipOffers.find(wanted.organizationId, id)
  if (offer === null) throw new Error('the new offer was not found')
  const { url } = offerLink(services.origins.url, id, code)
  return { offer, acceptance: { url, expires_at: isoTime(expiresAtSeconds) } }
}
