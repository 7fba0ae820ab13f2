// Schemas of members, offers of membership and links in requests and answers.
import { ORGANIZATION_ROLES } from '../domain/role.ts'
import type { MembershipOffer } from '../store/membership-offers.ts'
import { closed, named, oneOf, Type, time, timeText } from './schema.ts'

export const ROLE = oneOf(ORGANIZATION_ROLES, 'Each may do all that the ones after it may')

export const EMAIL = Type.String({
  description: 'Email address; upper and lower case are one',
  maxLength: 254,
  pattern: '^[^\\s@\\x00-\\x1f\\x7f]+@[^\\s@\\x00-\\x1f\\x7f]+$',
  rule: 'must be an email address',
})

export const LINK = named(
  'OneTimeLink',
  closed({ url: Type.String({ description: 'Opens once; not shown again' }), expires_at: time() }),
)

export const OFFER = named(
  'MemberOffer',
  closed({
    id: Type.String(),
    email: Type.String({ description: 'As it was asked for; whose account it is, is not said' }),
    role: ROLE,
    asked_by: Type.String({ description: 'As the audit log names them' }),
    asked_by_name: Type.String(),
    created_at: time(),
    expires_at: time(),
  }),
)

export const showOffer = (offer: MembershipOffer) => ({
  id: offer.id,
  email: offer.email,
  role: offer.role,
  asked_by: offer.askedBy,
  asked_by_name: offer.askedByName,
  created_at: timeText(offer.createdAtSeconds),
  expires_at: timeText(offer.expiresAtSeconds),
})
