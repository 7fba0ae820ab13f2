// Schemas of members, offers of membership and links in requests and answers.

import { isoTime } from '../lib/time.ts'
import type { MembershipOffer } from '../store/accounts/membership-offers.ts'
import { ORGANIZATION_ROLES } from '../store/accounts/role.ts'
import { closed, named, oneOf, Type, time } from './schema.ts'

export const ROLE = oneOf(ORGANIZATION_ROLES, 'Each role includes the rights of those after it')

export const EMAIL = Type.String({
  description: 'Email address, in any case',
  maxLength: 254,
  pattern: '^[^\\s@\\x00-\\x1f\\x7f]+@[^\\s@\\x00-\\x1f\\x7f]+$',
  rule: 'must be an email address',
})

export const LINK = named(
  'OneTimeLink',
  closed({ url: Type.String({ description: 'Works once; shown this once' }), expires_at: time() }),
)

export const OFFER = named(
  'MemberOffer',
  closed({
    id: Type.String(),
    email: Type.String({ description: 'As in the request; does not reveal the account’s name' }),
    role: ROLE,
    asked_by: Type.String({ description: 'As in the audit log' }),
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
  created_at: isoTime(offer.createdAtSeconds),
  expires_at: isoTime(offer.expiresAtSeconds),
})
