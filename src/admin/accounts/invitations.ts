// The two ways to bring somebody into an organization: an invitation, whose link sets the password of a new account, and an
// offer, which the owner of an account accepts.
import type { OrganizationRole } from '../../domain/role.ts'
import type { Tables } from '../../store/store.ts'
import type { User } from '../../store/users.ts'
import { type Actor, actorId, actorName } from '../actor.ts'
import { SubjectUnknownError } from '../errors.ts'
import { timeText } from '../schema.ts'
import type { Services } from '../services.ts'
import { makeLink, newOfferCode, offerLink } from './links.ts'

export const requireAccount = async (tables: Tables, userId: string): Promise<User> => {
  const user = await tables.users.find(userId)
  if (user === null) throw new SubjectUnknownError('account')
  return user
}

/**
 * Whether an organization may have a link that sets an account's password: it made the account, nobody has taken it up,
 * and the account has no rights elsewhere. Anyone else's link would be a way to take the account over.
 * @param user locked, so that nothing of this changes until the link is made
 */
export const mayInvite = async (tables: Tables, organizationId: string, user: User): Promise<boolean> => {
  if (user.hasPassword || user.deploymentAdmin || user.madeByOrganizationId !== organizationId) return false
  const roles = await tables.memberships.rolesOf(user.id)
  return [...roles.keys()].every((id) => id === organizationId)
}

export const invite = async (tables: Tables, services: Services, user: User) => {
  const link = await makeLink(tables.userLinks, services.clock, services.origins.url, 'invitation', user.id)
  return { url: link.url, expires_at: timeText(link.expiresAtSeconds) }
}

/** Asks the owner of an account whether they want to be a member. */
export const offerMembership = async (
  tables: Tables,
  services: Services,
  actor: Actor,
  wanted: { readonly organizationId: string; readonly userId: string; readonly role: OrganizationRole },
) => {
  const code = newOfferCode(services.clock)
  const { expiresAtSeconds } = code
  const asked = { ...wanted, askedBy: actorId(actor), askedByName: actorName(actor), expiresAtSeconds }
  const id = await tables.membershipOffers.make(asked, code.hash)
  const offer = await tables.membershipOffers.find(wanted.organizationId, id)
  if (offer === null) throw new Error('the new offer was not found')
  const { url } = offerLink(services.origins.url, id, code)
  return { offer, acceptance: { url, expires_at: timeText(expiresAtSeconds) } }
}
